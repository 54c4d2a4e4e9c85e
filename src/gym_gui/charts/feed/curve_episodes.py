"""Which episode a point of a chart belongs to. Blocks; `ChartsModel` calls it on a thread.

Charts count the steps of the complete run, replays those of one episode. If the run reports
returns, each has the step at which its episode ended; otherwise the lengths are added up.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gym_gui.charts.feed.curves import (
    MAX_POINTS,
    ChartRunInfo,
    CurveRequest,
    MetricKey,
    fetch_curve,
)
from gym_gui.charts.feed.episode_curves import RETURN
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_PER_PAGE = 1_000
_AROUND = 64
"""Vectorized environments end their episodes in a different order than they started them."""
_FIRST_WIDTH, _WIDTH_FACTOR, _MAX_WIDTH = 256.0, 8, 1e9
"""Steps after a point that are searched for the end of its episode."""
_TOLERANCE = 1e-4
"""Relative: returns are reported in single precision."""


@dataclass(frozen=True, slots=True)
class EpisodePosition:
    """An episode and the number of its steps that were done."""

    episode: int
    step: int


def find_episode(
    client: "TrainerClient", info: ChartRunInfo, step: int, value: float | None = None
) -> EpisodePosition:
    """The episode at a step of the run; `value` is the return, if a return was clicked.

    Raises `UserError` if no episode was recorded.
    """
    returns = info.returns
    if returns is None or returns == RETURN or returns in info.from_events:
        return _by_lengths(client, info.run.run_id, step)
    return _by_returns(client, info, returns, step, value)


def _by_returns(
    client: "TrainerClient", info: ChartRunInfo, key: MetricKey, step: int, value: float | None
) -> EpisodePosition:
    run_id = info.run.run_id
    before = fetch_curve(client, run_id, key, CurveRequest(None, step - 0.5, 2)).total
    first = max(0, before - _AROUND)
    page = client.episodes_page(run_id, first=first, count=2 * _AROUND + 1, ended="over")
    if not page.episodes:
        # Fewer episodes were recorded than returns reported.
        return _by_lengths(client, run_id, step)
    number = min(before - first, len(page.episodes) - 1)
    if value is not None:
        matches = [
            index
            for index, episode in enumerate(page.episodes)
            if abs(_return_of(episode) - value) <= _TOLERANCE * max(1.0, abs(value))
        ]
        number = min(matches, key=lambda index: abs(index - number), default=number)
    chosen = page.episodes[number]
    length = _length_of(chosen)
    if value is not None:
        return EpisodePosition(chosen.episode, length)
    num_envs = _num_envs(info)
    end = _end_after(client, run_id, key, step)
    done = length - (end - step) / num_envs if end is not None else 0
    return EpisodePosition(chosen.episode, max(0, min(length, round(done))))


def _end_after(client: "TrainerClient", run_id: str, key: MetricKey, step: int) -> float | None:
    """The step at which the next episode ended."""
    width = _FIRST_WIDTH
    while width < _MAX_WIDTH:
        # Few points are complete; of many, the first may have been left out.
        points = fetch_curve(
            client, run_id, key, CurveRequest(step - 0.5, step + width, MAX_POINTS)
        )
        if len(points.x):
            return float(points.x.min())
        width *= _WIDTH_FACTOR
    return None


def _by_lengths(client: "TrainerClient", run_id: str, step: int) -> EpisodePosition:
    first = done = 0
    newest: EpisodeRollup | None = None
    while True:
        page = client.episodes_page(run_id, first=first, count=_PER_PAGE)
        for episode in page.episodes:
            length = _length_of(episode)
            if done + length >= step:
                return EpisodePosition(episode.episode, max(0, step - done))
            done += length
            newest = episode
        first += len(page.episodes)
        if len(page.episodes) < _PER_PAGE:
            break
    if newest is None:
        raise UserError(
            "This run has recorded no episodes, so there is nothing to replay at this point.",
            remedy="Turn on Minimal telemetry for the next run.",
            code="C395",
        )
    return EpisodePosition(newest.episode, _length_of(newest))


def _num_envs(info: ChartRunInfo) -> int:
    """Number of parallel environments; each step of the run counts for all of them."""
    text = info.config.get("num_envs", "1")
    return max(1, int(text)) if text.isdigit() else 1


def _return_of(episode: EpisodeRollup) -> float:
    reported = episode.reported_return
    return episode.total_return if reported is None else reported


def _length_of(episode: EpisodeRollup) -> int:
    return episode.steps if episode.reported_steps is None else episode.reported_steps
