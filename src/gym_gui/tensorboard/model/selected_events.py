"""SelectedEvents: what the event files of the shown run hold, read on while it goes on."""

import time
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.tensorboard.feed.event_folders import EventReader, EventsFound, exported_folder
from gym_gui.tensorboard.model.event_tags_table import EventTagsTable
from mosaic.contract.errors import UserError

_LOOK_AGAIN_S = 2.0


class SelectedEvents(QObject):
    """Made by `TensorBoardModel`. Nothing is read while nobody looks."""

    changed = Signal()

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        notices: Notices,
        shown: SelectedRun,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.found: EventsFound | None = None
        """None: there are none, or none were looked for yet."""
        self.is_looking = False
        """Whether there are any is not known yet."""
        self.tags = EventTagsTable(self)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._shown = shown
        self._reader: EventReader | None = None
        self._candidates: tuple[Path, ...] = ()
        self._is_watched = False
        self._is_reading = False
        self._is_outdated = False
        self._read_at = 0.0
        shown.papers_changed.connect(self._on_papers)
        shown.changed.connect(self._on_run)

    def set_watched(self, is_watched: bool) -> None:
        self._is_watched = is_watched
        if is_watched:
            self._on_papers()

    def look_anew(self, run_id: str) -> None:
        """The files of that run are others than before."""
        if run_id == self._shown.run_id:
            self._reader = None
            self._read()

    def _on_papers(self) -> None:
        shown = self._shown
        candidates: tuple[Path, ...] = ()
        is_awaited = bool(shown.run_id) and not shown.is_known and shown.problem is None
        if shown.run_id and not is_awaited:
            exported = exported_folder(self._link.home, shown.run_id)
            folder, place = shown.directory, shown.manifest.tensorboard_dir
            candidates = (folder / place, exported) if folder and place else (exported,)
        if candidates != self._candidates:
            self._candidates = candidates
            self._reader = None
            self.is_looking = bool(candidates)
            self._show(None)
        if is_awaited and not self.is_looking:
            self.is_looking = True
            self.changed.emit()
        self._read()

    def _on_run(self) -> None:
        """While it goes on its files grow; they are looked at now and then."""
        if time.monotonic() - self._read_at >= _LOOK_AGAIN_S:
            self._read()

    def _read(self) -> None:
        """One look at a time; what is asked meanwhile is looked at once afterwards."""
        if self._is_reading:
            self._is_outdated = True
            return
        if not self._is_watched or not self._candidates:
            return
        if self._reader is None:
            self._reader = EventReader(self._candidates)
        reader = self._reader
        self._is_reading, self._is_outdated = True, False
        self._tasks.run(
            self, reader.look, lambda found: self._answer(reader, found), self._on_failed
        )

    def _answer(self, reader: EventReader, found: EventsFound | None) -> None:
        self._is_reading, self._read_at = False, time.monotonic()
        if reader is not self._reader:
            self._read()
            return
        was_looking, self.is_looking = self.is_looking, False
        if found is None:
            self._reader = None  # it chooses its folder anew
        if found is not self.found or was_looking:
            self._show(found)
        if self._is_outdated:
            self._read()

    def _on_failed(self, error: UserError) -> None:
        self._is_reading = self.is_looking = False
        self._notices.fail(error)

    def _show(self, found: EventsFound | None) -> None:
        self.found = found
        self.tags.show(found.tags if found else ())
        self.changed.emit()
