"""FileExports: writes PNG, SVG and CSV files on a thread, and posts a notice."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError

_FORBIDDEN_IN_NAMES = '/\\:*?"<>|'
_MAX_NAME = 80


class FileExports(QObject):
    """Files are written to `exports` of the home, under unused names."""

    changed = Signal()
    reveal_requested = Signal(str)
    """The path of a file to show in the file manager."""

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = services.link.home.exports
        self._services = services
        self._running = 0

    @property
    def is_running(self) -> bool:
        return self._running > 0

    def save(self, title: str, suffix: str, write: Callable[[Path], None]) -> None:
        """`write` is called on a thread, with the path to write to."""

        def work() -> Path:
            target = free_target(self.folder, _file_name(title), suffix)
            part = target.with_name(f"{target.name}.part")
            try:
                write(part)
                part.replace(target)
            except OSError as error:
                raise UserError(
                    f"Cannot write {target.name}: {error.strerror or error}.",
                    remedy="Free some disk space, or change the permissions of the folder.",
                    code="C390",
                ) from error
            finally:
                part.unlink(missing_ok=True)
            return target

        self._running += 1
        self.changed.emit()
        self._services.tasks.run(self, work, self._on_saved, self._on_failed)

    def save_rows(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        def write(path: Path) -> None:
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(rows)

        self.save(title, "csv", write)

    def _on_saved(self, path: Path) -> None:
        self._running -= 1
        self.changed.emit()
        self._services.notices.offer(
            f"Saved {path.name}.",
            "Show",
            lambda: self.reveal_requested.emit(str(path)),
            tone="good",
        )

    def _on_failed(self, error: UserError) -> None:
        self._running -= 1
        self.changed.emit()
        self._services.notices.post_error(error)


def _file_name(title: str) -> str:
    name = "".join("-" if char in _FORBIDDEN_IN_NAMES else char for char in title)
    return name.strip()[:_MAX_NAME].strip() or "charts"
