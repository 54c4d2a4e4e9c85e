"""EpisodeCurves: returns and lengths of a run whose metrics do not tell them, from its episodes.

Only what is new is asked for again. Of a run with very many episodes, pages spread over all of it
are taken, so that memory and time stay bounded. Used by `CurveSource`, on its thread.
"""

from __future__ import annotations  # array[float] can only be written so before Python 3.12

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from gym_gui.charts.feed.axis_mapping import AxisMapping

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mosaic.client import TrainerClient
    from mosaic.contract.episodes import EpisodeRollup

_PER_PAGE = 1_000
_MOST = 100_000
"""Episodes in memory; of more than so many, every other page is left out, and so on."""


class MetricKey(NamedTuple):
    """A curve of a run: its name, and whose it is where several agents tell the same."""

    name: str
    agent: str = ""


RETURN = MetricKey("episodes/return")
LENGTH = MetricKey("episodes/length")


class EpisodeCurves:
    """Of one run."""

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
        """How many episodes are over, once those that are new were read."""
        while True:
            page = self._client.episodes_page(self._run_id, first=self._read, count=_PER_PAGE)
            rows = page.episodes if is_final else _settled(page.episodes)
            self._take(rows)
            self._read += len(rows)
            if len(rows) < _PER_PAGE:
                return len(self._number)
            if page.total > _MOST * self._stride:
                self._thin_out()

    def curve(self, key: MetricKey, axis: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Nothing on the axis of time, which episodes do not tell."""
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        if axis == "time":
            return np.empty(0), np.empty(0)
        x = self._step if axis == "step" else self._number
        y = self._return if key == RETURN else self._length
        return np.array(x), np.array(y)

    def clock(self) -> AxisMapping:
        import numpy as np  # noqa: PLC0415 - see `curves.py`

        return AxisMapping(np.array(self._step), None, np.array(self._number), 0.0)

    def _take(self, rows: tuple[EpisodeRollup, ...]) -> None:
        for row in rows:
            length = row.steps if row.reported_steps is None else row.reported_steps
            self._steps_before += length
            if not row.is_over or row.episode % self._stride:
                continue
            told = row.total_return if row.reported_return is None else row.reported_return
            self._number.append(row.episode)
            self._step.append(self._steps_before)
            self._return.append(told)
            self._length.append(length)

    def _thin_out(self) -> None:
        self._stride *= 2
        for kept in (self._number, self._step, self._return, self._length):
            kept[:] = kept[::2]


def _settled(episodes: tuple[EpisodeRollup, ...]) -> tuple[EpisodeRollup, ...]:
    """Those before the first that goes on: what comes after it is read when it is over."""
    for index, episode in enumerate(episodes):
        if not episode.is_over:
            return episodes[:index]
    return episodes
