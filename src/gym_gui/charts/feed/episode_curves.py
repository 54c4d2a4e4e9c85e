"""EpisodeCurves: returns and lengths from the episodes of a run without such metrics.

Fetches new episodes only. Of a run with very many episodes only a sample is kept, so that memory
and time stay bounded. Used by `CurveSource` on its thread.
"""

from __future__ import annotations  # required for array[float] before Python 3.12

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from gym_gui.charts.feed.axis_mapping import AxisMapping

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mosaic.client import TrainerClient
    from mosaic.contract.episodes import EpisodeRollup

_PER_PAGE = 1_000
_MAX_EPISODES = 100_000
"""Episodes in memory; beyond this, every second episode is dropped, repeatedly."""


class MetricKey(NamedTuple):
    """A curve of a run: the name of the metric, and the agent if there are several."""

    name: str
    agent: str = ""


RETURN = MetricKey("episodes/return")
LENGTH = MetricKey("episodes/length")


class EpisodeCurves:
    """Episode curves of one run."""

    def __init__(self, client: TrainerClient, run_id: str) -> None:
        self._client = client
        self._run_id = run_id
        self._read = 0
        self._stride = 1
        self._steps_before = 0
        self._number = array("d")
        self._step = array("d")
        self._return = array("d")
        self._length = array("d")

    def refresh(self, is_final: bool) -> int:
        """Read new episodes; return the number of finished episodes in memory."""
        while True:
            page = self._client.episodes_page(self._run_id, first=self._read, count=_PER_PAGE)
            rows = page.episodes if is_final else _finished_prefix(page.episodes)
            self._append(rows)
            self._read += len(rows)
            if len(rows) < _PER_PAGE:
                return len(self._number)
            if page.total > _MAX_EPISODES * self._stride:
                self._thin_out()

    def curve(self, key: MetricKey, axis: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Empty for the time axis, because episodes have no time."""
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        if axis == "time":
            return np.empty(0), np.empty(0)
        x = self._step if axis == "step" else self._number
        y = self._return if key == RETURN else self._length
        return np.array(x), np.array(y)

    def axis_mapping(self) -> AxisMapping:
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        return AxisMapping(np.array(self._step), None, np.array(self._number), 0.0)

    def _append(self, rows: tuple[EpisodeRollup, ...]) -> None:
        for row in rows:
            length = row.steps if row.reported_steps is None else row.reported_steps
            self._steps_before += length
            if not row.is_over or row.episode % self._stride:
                continue
            episode_return = (
                row.total_return if row.reported_return is None else row.reported_return
            )
            self._number.append(row.episode)
            self._step.append(self._steps_before)
            self._return.append(episode_return)
            self._length.append(length)

    def _thin_out(self) -> None:
        self._stride *= 2
        for column in (self._number, self._step, self._return, self._length):
            column[:] = column[::2]


def _finished_prefix(episodes: tuple[EpisodeRollup, ...]) -> tuple[EpisodeRollup, ...]:
    """Episodes before the first unfinished one; the others are read later."""
    for index, episode in enumerate(episodes):
        if not episode.is_over:
            return episodes[:index]
    return episodes
