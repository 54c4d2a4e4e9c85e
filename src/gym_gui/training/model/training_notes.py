"""TrainingNotes: results of dry runs, and the origin of the draft, newest first.

Owned by `TrainingModel`, shown by `NotesView` of the training panel.
"""

import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import DryRunReport

_MAX_NOTES = 20


@dataclass(frozen=True, slots=True)
class Note:
    """The result of a dry run, or a message about the draft."""

    created_at: float
    title: str
    is_success: bool
    text: str


class TrainingNotes(QObject):
    """UI thread only."""

    changed = Signal()

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.notes: tuple[Note, ...] = ()
        self.is_dry_running = False

    def dry_run(self, document: Mapping[str, Any], label: str) -> None:
        """Validate the configuration in the worker, without training."""
        if self.is_dry_running or not self._services.link.has_client:
            return
        self.is_dry_running = True
        self.changed.emit()
        self._services.call(
            self,
            lambda client: client.dry_run(document),
            lambda report: self._on_dry_run(_report_note(label, report)),
            lambda error: self._on_dry_run(_error_note(label, error)),
        )

    def add(self, title: str, text: str) -> None:
        self._prepend(Note(time.time(), title, True, text))

    def clear(self) -> None:
        self.notes = ()
        self.changed.emit()

    def _on_dry_run(self, note: Note) -> None:
        self.is_dry_running = False
        self._prepend(note)

    def _prepend(self, note: Note) -> None:
        self.notes = (note, *self.notes)[:_MAX_NOTES]
        self.changed.emit()


def _report_note(label: str, report: DryRunReport) -> Note:
    seconds = f"{report.duration_s:.1f} s"
    title = (
        f"Dry run of {label} passed in {seconds}"
        if report.ok
        else f"Dry run of {label} failed after {seconds}, exit code {report.exit_code}"
    )
    parts = [report.error_output.strip(), report.output.strip(), f"$ {shlex.join(report.command)}"]
    return Note(time.time(), title, report.ok, "\n\n".join(part for part in parts if part))


def _error_note(label: str, error: UserError) -> Note:
    text = "\n".join(part for part in (error.message, error.remedy, error.code) if part)
    return Note(time.time(), f"Dry run of {label} could not start", False, text)
