"""Scores: how good a run was in the end. Waits; called on threads."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gym_gui.charts.feed.curves import Curve, MetricKey, RunFacts, Wish, fetch_curve
from gym_gui.charts.feed.episode_curves import RETURN

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

LAST = 100
_DRAWN = 400
_MOST_TAIL = 20_000
_WIDER = 4


@dataclass(frozen=True, slots=True)
class Score:
    """`last` is the mean of the last `counted` episodes; None where there is none."""

    last: float | None = None
    counted: int = 0
    best: float | None = None
    step: int = 0


def fetch_score(client: "TrainerClient", facts: RunFacts) -> Score:
    """Raises `UserError`."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    run, key = facts.run, facts.returns
    if key is None:
        return Score(step=run.digest.steps_done)
    if key == RETURN:
        return _of_episodes(client, facts)
    whole = fetch_curve(client, run.run_id, key, Wish(None, None, _DRAWN))
    finite = whole.y[np.isfinite(whole.y)]
    if not len(finite):
        return Score(step=run.digest.steps_done)
    tail = whole if whole.is_exact else _tail(client, run.run_id, key, whole)
    last = tail.y[-LAST:][np.isfinite(tail.y[-LAST:])]
    return Score(
        float(last.mean()) if len(last) else None,
        len(last),
        # The extremes of each stretch are among the points, so this is the best of all.
        float(finite.max()),
        max(int(whole.x.max()), run.digest.steps_done),
    )


def score_of(points: Curve) -> Score:
    """Of a curve of returns that is here in full."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    known = np.isfinite(points.y)
    if not known.any():
        return Score(step=int(points.x.max()) if len(points.x) else 0)
    last = points.y[known][-LAST:]
    best = float(points.y[known].max())
    return Score(float(last.mean()), len(last), best, int(points.x.max()))


def _tail(client: "TrainerClient", run_id: str, key: MetricKey, whole: Curve) -> Curve:
    """At least the last hundred points, where there are as many."""
    end, span = float(whole.x.max()), float(whole.x.max() - whole.x.min())
    width = 2 * span * LAST / max(whole.total, 1)
    while True:
        tail = fetch_curve(client, run_id, key, Wish(end - width, None, _MOST_TAIL))
        if tail.total >= LAST or width >= span:
            return tail
        width *= _WIDER


def _of_episodes(client: "TrainerClient", facts: RunFacts) -> Score:
    run = facts.run
    last = client.episodes_page(run.run_id, count=LAST, descending=True, ended="over").episodes
    best = client.episodes_page(
        run.run_id, count=1, order="return", descending=True, ended="over"
    ).episodes
    returns = [episode.total_return for episode in last]
    return Score(
        sum(returns) / len(returns) if returns else None,
        len(returns),
        best[0].total_return if best else None,
        run.digest.steps_done,
    )
