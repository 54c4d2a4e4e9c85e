"""RunSparklines: for each run in sight, how its returns went lately, for a small line in the list.

What came before a run was first looked at is asked for once; from then on its means are added as
they come. Owned by `RunsModel`.
"""

from collections import deque

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.run_trends import POINTS, recent_trend
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.runs import RunRecord


class RunSparklines(QObject):
    """All of it is for the UI thread."""

    changed = Signal(str)
    """The line of this run is there, or longer."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._lines: dict[str, deque[float]] = {}
        self._pending: dict[str, None] = {}
        self._fetching = ""

    def line(self, run: RunRecord) -> tuple[float, ...]:
        """Mean returns, oldest first; empty while nothing is known."""
        known = self._lines.get(run.run_id)
        if known is None and run.digest.episodes > 1:
            self._pending[run.run_id] = None
            self._fetch_next()
        return tuple(known or ())

    def record(self, run: RunRecord) -> None:
        """Its figures are new."""
        mean, line = run.digest.mean_return, self._lines.get(run.run_id)
        # What came before it was in sight is asked for when it is.
        if mean is not None and line is not None and (not line or line[-1] != mean):
            line.append(mean)

    def forget(self, run_id: str) -> None:
        self._lines.pop(run_id, None)
        self._pending.pop(run_id, None)

    def _fetch_next(self) -> None:
        if self._fetching or not self._pending or not self._link.is_ready:
            return
        run_id = self._fetching = self._pending.popitem()[0]
        client = self._link.client
        self._tasks.run(
            self,
            lambda: recent_trend(client, run_id),
            lambda values: self._on_known(run_id, values),
            lambda _: self._on_known(run_id, ()),
        )

    def _on_known(self, run_id: str, values: tuple[float, ...]) -> None:
        self._fetching = ""
        since = self._lines.get(run_id, ())
        self._lines[run_id] = deque((*values, *since), maxlen=POINTS)
        self.changed.emit(run_id)
        self._fetch_next()
