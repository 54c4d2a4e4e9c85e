"""BdiHistoryCache: what was in mind at steps whose changes are no longer kept, read again.

A stretch of changes is read at once and kept for a while, so that a replay that moves on within it
waits no more. Owned by `BeliefsModel`.
"""

from PySide6.QtCore import QObject, Signal

from gym_gui.beliefs.feed.bdi_state import MindEntry
from gym_gui.beliefs.feed.bdi_stream import fetch_changes
from gym_gui.beliefs.model.bdi_history import BdiHistory, Stretch
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError

_MOST_STRETCHES = 4


class BdiHistoryCache(QObject):
    """Of one run at a time. What cannot be read is not tried again unless somebody asks for it."""

    changed = Signal()
    """What was wanted is there, or cannot be had."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._run_id = ""
        self._read: dict[Stretch, BdiHistory] = {}
        """Those that were wanted last, the newest at the end."""
        self._reading: Stretch | None = None
        self._failed: tuple[Stretch, UserError] | None = None
        link.recovered.connect(self._on_recovered)

    def show(self, run_id: str) -> None:
        self._run_id = run_id
        self._read, self._reading = {}, None
        self.try_again()

    def try_again(self) -> None:
        """When it is wanted next."""
        self._failed = None

    def history_of(self, stretch: Stretch) -> BdiHistory | None:
        """None while it is being read, or cannot be."""
        found = self._read.pop(stretch, None)
        if found is not None:
            self._read[stretch] = found
        elif self.problem_of(stretch) is None and self._link.has_client:
            self._fetch(stretch)
        return found

    def problem_of(self, stretch: Stretch) -> UserError | None:
        """Why it cannot be read."""
        return self._failed[1] if self._failed and self._failed[0] is stretch else None

    def _fetch(self, stretch: Stretch) -> None:
        if self._reading is not None:
            return  # where the replay is by then is read afterwards
        self._reading = stretch
        client, run_id = self._link.client, self._run_id

        def answered(entries: list[MindEntry]) -> None:
            if self._reading is stretch:
                history = BdiHistory(stretch.before)
                history.add(entries)
                self._read[stretch] = history
                if len(self._read) > _MOST_STRETCHES:
                    del self._read[next(iter(self._read))]
                self._end_reading()

        def refused(error: UserError) -> None:
            if self._reading is stretch:
                self._failed = (stretch, error)
                self._end_reading()

        self._tasks.run(
            self, lambda: fetch_changes(client, run_id, stretch.places()), answered, refused
        )

    def _on_recovered(self) -> None:
        if self._failed is not None:
            self.try_again()
            self.changed.emit()

    def _end_reading(self) -> None:
        self._reading = None
        self.changed.emit()
