"""FileExports: PNG, SVG and CSV files, written on a thread, with a notice at the end."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError

_FORBIDDEN_IN_NAMES = '/\\:*?"<>|'
_MAX_NAME = 80


class FileExports(QObject):
    """Files go to the home's `exports`, under a name that is not taken."""

    changed = Signal()
    reveal_requested = Signal(str)
    """A person wants to see that file in its folder."""

    def __init__(
        self, link: TrainerLink, tasks: Tasks, notices: Notices, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.folder = link.home.path / "exports"
        self._tasks = tasks
        self._notices = notices
        self._under_way = 0

    @property
    def is_running(self) -> bool:
        return self._under_way > 0

    def save(self, title: str, suffix: str, write: Callable[[Path], None]) -> None:
        """`write` is called on a thread, with a file that it may replace."""

        def work() -> Path:
            target = free_target(self.folder, _file_name(title), suffix)
            part = target.with_name(f"{target.name}.part")
            try:
                write(part)
                part.replace(target)
            except OSError as error:
                raise UserError(
                    f"{target.name} cannot be written: {error.strerror or error}.",
                    remedy="Free some disk space, or change the folder's rights.",
                    code="C390",
                ) from error
            finally:
                part.unlink(missing_ok=True)
            return target

        self._under_way += 1
        self.changed.emit()
        self._tasks.run(self, work, self._on_saved, self._fail)

    def save_rows(self, title: str, rows: Sequence[Sequence[str]]) -> None:
        def write(path: Path) -> None:
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(rows)

        self.save(title, "csv", write)

    def _on_saved(self, path: Path) -> None:
        self._under_way -= 1
        self.changed.emit()
        self._notices.offer(
            f"Saved {path.name}.",
            "Show",
            lambda: self.reveal_requested.emit(str(path)),
            tone="good",
        )

    def _fail(self, error: UserError) -> None:
        self._under_way -= 1
        self.changed.emit()
        self._notices.fail(error)


def _file_name(title: str) -> str:
    name = "".join("-" if sign in _FORBIDDEN_IN_NAMES else sign for sign in title)
    return name.strip()[:_MAX_NAME].strip() or "charts"
