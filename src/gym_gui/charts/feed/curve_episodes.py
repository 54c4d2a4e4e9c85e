"""Which episode a point of a chart belongs to. Waits; `ChartsModel` calls it on a thread.

Charts count the steps of the whole run, replays those of one episode. Where the run tells returns,
each stands at the step at which its episode was over; otherwise lengths are added up.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gym_gui.charts.feed.curves import MOST_POINTS, MetricKey, RunFacts, Wish, fetch_curve
from gym_gui.charts.feed.episode_curves import RETURN
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_PER_PAGE = 1_000
_AROUND = 64
"""Environments side by side end their episodes in another order than they began them."""
_FIRST_LOOK, _WIDER, _FARTHEST = 256.0, 8, 1e9
"""Steps beyond a point in which the end of its episode is looked for."""
_SAME = 1e-4
"""Of a value: returns are told as single precision numbers."""


@dataclass(frozen=True, slots=True)
class EpisodePlace:
    """An episode, and how many of its steps were done."""

    episode: int
    step: int


def find_episode(
    client: "TrainerClient", facts: RunFacts, step: int, value: float | None = None
) -> EpisodePlace:
    """What was played at a step of the run; `value` is the return, if that was clicked at.

    Raises `UserError` where no episode was recorded.
    """
    returns = facts.returns
    if returns is None or returns == RETURN or returns in facts.from_events:
        return _by_lengths(client, facts.run.run_id, step)
    return _by_returns(client, facts, returns, step, value)


def _by_returns(
    client: "TrainerClient", facts: RunFacts, key: MetricKey, step: int, value: float | None
) -> EpisodePlace:
    run_id = facts.run.run_id
    before = fetch_curve(client, run_id, key, Wish(None, step - 0.5, 2)).total
    first = max(0, before - _AROUND)
    page = client.episodes_page(run_id, first=first, count=2 * _AROUND + 1, ended="over")
    if not page.episodes:
        # Fewer were recorded than have told their return.
        return _by_lengths(client, run_id, step)
    number = min(before - first, len(page.episodes) - 1)
    if value is not None:
        alike = [
            at
            for at, each in enumerate(page.episodes)
            if abs(_return_of(each) - value) <= _SAME * max(1.0, abs(value))
        ]
        number = min(alike, key=lambda at: abs(at - number), default=number)
    chosen = page.episodes[number]
    length = _length_of(chosen)
    if value is not None:
        return EpisodePlace(chosen.episode, length)
    beside = _environments(facts)
    end = _end_after(client, run_id, key, step)
    done = length - (end - step) / beside if end is not None else 0
    return EpisodePlace(chosen.episode, max(0, min(length, round(done))))


def _end_after(client: "TrainerClient", run_id: str, key: MetricKey, step: int) -> float | None:
    """The step at which the next episode was over."""
    width = _FIRST_LOOK
    while width < _FARTHEST:
        # Few points are all there are; of many, the first may have been left out.
        points = fetch_curve(client, run_id, key, Wish(step - 0.5, step + width, MOST_POINTS))
        if len(points.x):
            return float(points.x.min())
        width *= _WIDER
    return None


def _by_lengths(client: "TrainerClient", run_id: str, step: int) -> EpisodePlace:
    first = done = 0
    newest: EpisodeRollup | None = None
    while True:
        page = client.episodes_page(run_id, first=first, count=_PER_PAGE)
        for each in page.episodes:
            length = _length_of(each)
            if done + length >= step:
                return EpisodePlace(each.episode, max(0, step - done))
            done += length
            newest = each
        first += len(page.episodes)
        if len(page.episodes) < _PER_PAGE:
            break
    if newest is None:
        raise UserError(
            "This run has recorded no episodes, so there is nothing to replay at this point.",
            remedy="Turn on Minimal telemetry for the next run.",
            code="C395",
        )
    return EpisodePlace(newest.episode, _length_of(newest))


def _environments(facts: RunFacts) -> int:
    """How many are played side by side; each step of the run counts for all of them."""
    told = facts.config.get("num_envs", "1")
    return max(1, int(told)) if told.isdigit() else 1


def _return_of(episode: EpisodeRollup) -> float:
    reported = episode.reported_return
    return episode.total_return if reported is None else reported


def _length_of(episode: EpisodeRollup) -> int:
    return episode.steps if episode.reported_steps is None else episode.reported_steps
