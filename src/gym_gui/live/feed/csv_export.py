"""CsvExport: all rows of a table into a file, on a thread of its own, with progress and an end.

The file appears when it is whole: one that was cancelled or failed leaves nothing behind.
"""

import csv
import logging
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

_log = logging.getLogger(__name__)

Batch = tuple[Sequence[Sequence[object]], int]
"""Rows, and how many there are in all."""


class CsvExport(QObject):
    """One file. Begins with `start`; all of it is for the UI thread."""

    progressed = Signal(int, int)
    """Rows written, and rows in all; at most once per tick."""
    finished = Signal(str)
    """The file is whole."""
    failed = Signal(object)
    """A `UserError`."""
    cancelled = Signal()
    _over = Signal(object)

    def __init__(self, ticker: UiTicker, parent: QObject) -> None:
        super().__init__(parent)
        self._ticker = ticker
        self._stop = threading.Event()
        self._progress = self._told = (0, 0)
        self._thread: threading.Thread | None = None
        self._path = Path()
        self._over.connect(self._on_over, Qt.ConnectionType.QueuedConnection)
        ticker.subscribe(self, self._on_tick)

    def start(self, path: Path, header: Sequence[str], batches: Iterable[Batch]) -> None:
        """`batches` is gone through on the thread."""
        self._path = path
        self._thread = threading.Thread(
            target=self._run, args=(path, header, batches), name="csv export", daemon=True
        )
        self._thread.start()

    def cancel(self) -> None:
        self._stop.set()

    def join(self, timeout_s: float) -> bool:
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self, path: Path, header: Sequence[str], batches: Iterable[Batch]) -> None:
        part = path.with_name(f"{path.name}.part")
        outcome: UserError | None = None
        try:
            self._write(part, header, batches)
            if self._stop.is_set():
                part.unlink(missing_ok=True)
            else:
                part.replace(path)
        except UserError as error:
            outcome = error
        except OSError as error:
            outcome = UserError(
                f"{path.name} cannot be written: {error.strerror or error}.",
                remedy="Choose another folder, or free some disk space.",
                code="C351",
            )
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            _log.exception("C352 an export broke by a bug")
            outcome = UserError(
                f"The export broke: {type(error).__name__}: {error}.",
                remedy="Try again; if it happens again, please report it.",
                code="C353",
            )
        if outcome is not None:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        self._over.emit(outcome)

    def _write(self, part: Path, header: Sequence[str], batches: Iterable[Batch]) -> None:
        written = 0
        with part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            for rows, total in batches:
                if self._stop.is_set():
                    return
                writer.writerows(rows)
                written += len(rows)
                self._progress = (written, total)
                self._ticker.wake()

    def _on_tick(self) -> bool:
        if self._progress == self._told:
            return False
        self._told = self._progress
        self.progressed.emit(*self._told)
        return True

    @Slot(object)
    def _on_over(self, outcome: UserError | None) -> None:
        if outcome is not None:
            self.failed.emit(outcome)
        elif self._stop.is_set():
            self.cancelled.emit()
        else:
            self.finished.emit(str(self._path))
