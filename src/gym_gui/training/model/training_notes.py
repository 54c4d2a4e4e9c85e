"""TrainingNotes: what dry runs said and where a draft came from, in full and with the time.

Shown by the notes of the dock.
"""

import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.training.feed.launching import Launcher
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import DryRunReport

_MOST = 20


@dataclass(frozen=True, slots=True)
class Note:
    """One dry run, or one thing that was done."""

    at: float
    title: str
    is_good: bool
    text: str


class TrainingNotes(QObject):
    """The newest note first. Owned by `TrainingModel`."""

    changed = Signal()

    def __init__(self, launcher: Launcher, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._launcher = launcher
        self.notes: tuple[Note, ...] = ()
        self.is_trying = False

    def try_out(self, document: Mapping[str, Any], label: str) -> None:
        """Let the worker itself judge the configuration, without training."""
        if self.is_trying or not self._launcher.can_ask:
            return
        self.is_trying = True
        self.changed.emit()
        self._launcher.dry_run(
            self,
            document,
            lambda report: self._add(_note_of(label, report)),
            lambda error: self._add(_note_of_refusal(label, error)),
        )

    def tell(self, title: str, text: str) -> None:
        """Something that went as it should."""
        self._keep(Note(time.time(), title, True, text))

    def clear(self) -> None:
        self.notes = ()
        self.changed.emit()

    def _add(self, note: Note) -> None:
        self.is_trying = False
        self._keep(note)

    def _keep(self, note: Note) -> None:
        self.notes = (note, *self.notes)[:_MOST]
        self.changed.emit()


def _note_of(label: str, report: DryRunReport) -> Note:
    seconds = f"{report.duration_s:.1f} s"
    title = (
        f"Dry run of {label} passed in {seconds}"
        if report.ok
        else f"Dry run of {label} failed after {seconds}, exit code {report.exit_code}"
    )
    parts = [report.error_output.strip(), report.output.strip(), f"$ {shlex.join(report.command)}"]
    return Note(time.time(), title, report.ok, "\n\n".join(part for part in parts if part))


def _note_of_refusal(label: str, error: UserError) -> Note:
    text = "\n".join(part for part in (error.message, error.remedy, error.code) if part)
    return Note(time.time(), f"Dry run of {label} could not be made", False, text)
