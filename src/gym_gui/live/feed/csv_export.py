"""CsvExport: writes all rows of a table to a CSV file on a thread, with progress.

The file appears once it is complete; a cancelled or failed export leaves nothing behind.
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
"""Rows, and the total number of rows."""


class CsvExport(QObject):
    """Exports one file, after `start`. UI thread only."""

    progressed = Signal(int, int)
    """Rows written and total rows; at most once per tick."""
    finished = Signal(str)
    """The path of the complete file."""
    failed = Signal(object)
    """A `UserError`."""
    cancelled = Signal()
    _ended = Signal(object)

    def __init__(self, ticker: UiTicker, parent: QObject) -> None:
        super().__init__(parent)
        self._ticker = ticker
        self._stop = threading.Event()
        self._progress = self._reported = (0, 0)
        self._thread: threading.Thread | None = None
        self._path = Path()
        self._ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)
        ticker.subscribe(self, self._on_tick)

    def start(self, path: Path, header: Sequence[str], batches: Iterable[Batch]) -> None:
        """Iterate over `batches` on the thread."""
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
        partial = path.with_name(f"{path.name}.part")
        failure: UserError | None = None
        try:
            self._write(partial, header, batches)
            if self._stop.is_set():
                partial.unlink(missing_ok=True)
            else:
                partial.replace(path)
        except UserError as error:
            failure = error
        except OSError as error:
            failure = UserError(
                f"{path.name} could not be written: {error.strerror or error}.",
                remedy="Choose another folder, or free some disk space.",
                code="C351",
            )
        except Exception as error:  # noqa: BLE001 - thread boundary
            _log.exception("C352 unexpected error in an export")
            failure = UserError(
                f"The export failed unexpectedly: {type(error).__name__}: {error}.",
                remedy="Try again. If the error persists, report it.",
                code="C353",
            )
        if failure is not None:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        self._ended.emit(failure)

    def _write(self, partial: Path, header: Sequence[str], batches: Iterable[Batch]) -> None:
        written = 0
        with partial.open("w", newline="", encoding="utf-8") as file:
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
        if self._progress == self._reported:
            return False
        self._reported = self._progress
        self.progressed.emit(*self._reported)
        return True

    @Slot(object)
    def _on_ended(self, failure: UserError | None) -> None:
        if failure is not None:
            self.failed.emit(failure)
        elif self._stop.is_set():
            self.cancelled.emit()
        else:
            self.finished.emit(str(self._path))
