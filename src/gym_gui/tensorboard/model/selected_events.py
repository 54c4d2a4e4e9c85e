"""SelectedEvents: contents of the event files of the selected run, updated while it is active."""

import time
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.tensorboard.feed.event_folders import EventReader, EventSummary, exported_folder
from gym_gui.tensorboard.model.event_tags_table import EventTagsTable
from mosaic.contract.errors import UserError

_REREAD_INTERVAL_S = 2.0


class SelectedEvents(QObject):
    """Created by `TensorBoardModel`. Files are read only while the page is visible."""

    changed = Signal()

    def __init__(
        self, services: Services, selected: SelectedRun, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.summary: EventSummary | None = None
        """None if there are none, or the search is not finished."""
        self.is_searching = False
        """The search for event files is not finished."""
        self.tags = EventTagsTable(self)
        self._services = services
        self._selected = selected
        self._reader: EventReader | None = None
        self._candidates: tuple[Path, ...] = ()
        self._is_visible = False
        self._is_reading = False
        self._is_outdated = False
        self._read_at = 0.0
        selected.metadata_changed.connect(self._on_metadata_changed)
        selected.changed.connect(self._on_run)

    def set_page_visible(self, is_visible: bool) -> None:
        self._is_visible = is_visible
        if is_visible:
            self._on_metadata_changed()

    def reload(self, run_id: str) -> None:
        """The files of that run were replaced."""
        if run_id == self._selected.run_id:
            self._reader = None
            self._read()

    def _on_metadata_changed(self) -> None:
        selected = self._selected
        candidates: tuple[Path, ...] = ()
        is_loading = bool(selected.run_id) and not selected.is_known and selected.problem is None
        if selected.run_id and not is_loading:
            exported = exported_folder(self._services.link.home, selected.run_id)
            folder, subfolder = selected.directory, selected.manifest.tensorboard_dir
            candidates = (folder / subfolder, exported) if folder and subfolder else (exported,)
        if candidates != self._candidates:
            self._candidates = candidates
            self._reader = None
            self.is_searching = bool(candidates)
            self._show(None)
        if is_loading and not self.is_searching:
            self.is_searching = True
            self.changed.emit()
        self._read()

    def _on_run(self) -> None:
        """The files of an active run grow, so read them at intervals."""
        if time.monotonic() - self._read_at >= _REREAD_INTERVAL_S:
            self._read()

    def _read(self) -> None:
        """One read at a time; requests during a read cause one more read."""
        if self._is_reading:
            self._is_outdated = True
            return
        if not self._is_visible or not self._candidates:
            return
        if self._reader is None:
            self._reader = EventReader(self._candidates)
        reader = self._reader
        self._is_reading, self._is_outdated = True, False
        self._services.tasks.run(
            self, reader.read, lambda summary: self._on_read(reader, summary), self._on_failed
        )

    def _on_read(self, reader: EventReader, summary: EventSummary | None) -> None:
        self._is_reading, self._read_at = False, time.monotonic()
        if reader is not self._reader:
            self._read()
            return
        was_searching, self.is_searching = self.is_searching, False
        if summary is None:
            self._reader = None  # the next reader selects its folder again
        if summary is not self.summary or was_searching:
            self._show(summary)
        if self._is_outdated:
            self._read()

    def _on_failed(self, error: UserError) -> None:
        self._is_reading = self.is_searching = False
        self._services.notices.post_error(error)

    def _show(self, summary: EventSummary | None) -> None:
        self.summary = summary
        self.tags.show(summary.tags if summary else ())
        self.changed.emit()
