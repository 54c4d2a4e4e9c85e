"""TrainingPresets: the presets of a worker and an environment: listed, saved, loaded, deleted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.training.feed.launching import Launcher, make_preset, to_preset_name
from mosaic.contract.errors import UserError


class TrainingPresets(QObject):
    """Owned by `TrainingModel`."""

    changed = Signal()

    def __init__(self, launcher: Launcher, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._launcher = launcher
        self._notices = notices
        self.names: tuple[str, ...] = ()
        self._worker = ""
        self._env_id = ""

    def look_at(self, worker: str, env_id: str) -> None:
        """Those of another worker or environment; asked again even when they are the same."""
        self._worker, self._env_id = worker, env_id

        def take(names: tuple[str, ...]) -> None:
            if (worker, env_id) == (self._worker, self._env_id) and names != self.names:
                self.names = names
                self.changed.emit()

        self._launcher.presets_for(self, worker, env_id, take)

    def save(self, wanted: str, document: Mapping[str, Any]) -> None:
        name = to_preset_name(wanted)

        def done(_path: Path) -> None:
            self._notices.post(f"Saved as the preset {name}.", tone="good")
            self.look_at(self._worker, self._env_id)

        self._launcher.save_preset(self, name, make_preset(document), done, self._notices.fail)

    def load(self, name: str, take: Callable[[dict[str, Any]], object]) -> None:
        def done(document: dict[str, Any]) -> None:
            take(document)

        def fail(error: UserError) -> None:
            self._notices.fail(error)
            self.look_at(self._worker, self._env_id)

        self._launcher.load_preset(self, name, done, fail)

    def delete(self, name: str) -> None:
        """It can be undone."""

        def done(document: dict[str, Any]) -> None:
            self._notices.offer(
                f"The preset {name} is deleted.", "Undo", lambda: self.save(name, document)
            )
            self.look_at(self._worker, self._env_id)

        self._launcher.delete_preset(self, name, done, self._notices.fail)
