"""Final scores of runs. Blocks; called on threads."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gym_gui.charts.feed.curves import ChartRunInfo, Curve, CurveRequest, MetricKey, fetch_curve
from gym_gui.charts.feed.episode_curves import RETURN

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

LAST = 100
_OVERVIEW_POINTS = 400
_MAX_TAIL_POINTS = 20_000
_WIDTH_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Score:
    """`last` is the mean of the last `counted` episodes; None without episodes."""

    last: float | None = None
    counted: int = 0
    best: float | None = None
    step: int = 0


def fetch_score(client: "TrainerClient", info: ChartRunInfo) -> Score:
    """Raises `UserError`."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    run, key = info.run, info.returns
    if key is None:
        return Score(step=run.digest.steps_done)
    if key == RETURN:
        return _score_from_episodes(client, info)
    overview = fetch_curve(client, run.run_id, key, CurveRequest(None, None, _OVERVIEW_POINTS))
    finite = overview.y[np.isfinite(overview.y)]
    if not len(finite):
        return Score(step=run.digest.steps_done)
    tail = overview if overview.is_exact else _tail(client, run.run_id, key, overview)
    last = tail.y[-LAST:][np.isfinite(tail.y[-LAST:])]
    return Score(
        float(last.mean()) if len(last) else None,
        len(last),
        # Downsampling keeps the extremes, so this is the best of all points.
        float(finite.max()),
        max(int(overview.x.max()), run.digest.steps_done),
    )


def score_of(points: Curve) -> Score:
    """The score of a complete curve of returns."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    known = np.isfinite(points.y)
    if not known.any():
        return Score(step=int(points.x.max()) if len(points.x) else 0)
    last = points.y[known][-LAST:]
    best = float(points.y[known].max())
    return Score(float(last.mean()), len(last), best, int(points.x.max()))


def _tail(client: "TrainerClient", run_id: str, key: MetricKey, overview: Curve) -> Curve:
    """At least the last hundred points, or all if there are fewer."""
    end, span = float(overview.x.max()), float(overview.x.max() - overview.x.min())
    width = 2 * span * LAST / max(overview.total, 1)
    while True:
        tail = fetch_curve(client, run_id, key, CurveRequest(end - width, None, _MAX_TAIL_POINTS))
        if tail.total >= LAST or width >= span:
            return tail
        width *= _WIDTH_FACTOR


def _score_from_episodes(client: "TrainerClient", info: ChartRunInfo) -> Score:
    run = info.run
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
