"""EnvironmentChoice: the selected environment, its settings, seed and speed. Saved.

Owned by `SessionPanelModel`; the panel's fields show it and change it.
"""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.settings_store import TextSettings
from mosaic.contract.problems import Problem
from mosaic.envs.catalog import environment
from mosaic.envs.configuration import MAX_SEED, check_values, env_kwargs
from mosaic.envs.entries import EnvironmentEntry

DEFAULT_ENVIRONMENT = "FrozenLake-v1"
MAX_SPEED = 0.0
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, MAX_SPEED)
_RANDOM_SEED_LIMIT = 1_000_000
"""Random seeds are short enough to read and type."""
_MAX_RECENT = 6


class EnvironmentChoice(QObject):
    """UI thread only."""

    environment_changed = Signal(str)
    values_changed = Signal()
    seed_changed = Signal()
    speed_changed = Signal()

    def __init__(self, settings: TextSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.entry: EnvironmentEntry = environment(
            settings.text("session/environment") or DEFAULT_ENVIRONMENT
        )
        self.values: dict[str, Any] = self._saved_values()
        """Only fields that differ from their default."""
        self.seed = _parse_seed(settings.text("session/seed"))
        self._was_seed_chosen = False
        self.is_seed_locked = settings.text("session/seed_is_locked") == "yes"
        self.speed = _parse_speed(settings.text("session/speed"))
        recent = settings.text("session/recent")
        self.recent: tuple[str, ...] = tuple(recent.split()) if recent else ()
        """Recently played environments, newest first."""

    @property
    def env_id(self) -> str:
        return self.entry.env_id

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Validation errors of the values, by field."""
        return check_values(self.entry, self.values)

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of `gymnasium.make`. Raises `DocumentError`."""
        return env_kwargs(self.entry, self.values)

    def choose(self, env_id: str) -> None:
        """Select any environment id and restore its saved values."""
        env_id = env_id.strip()
        if not env_id or env_id == self.env_id:
            return
        self.entry = environment(env_id)
        self.values = self._saved_values()
        self._settings.set("session/environment", env_id)
        self.environment_changed.emit(env_id)

    def set_values(self, values: Mapping[str, Any]) -> None:
        if dict(values) == self.values:
            return
        self.values = dict(values)
        self._settings.set(f"session/values/{self.env_id}", json.dumps(self.values))
        self.values_changed.emit()

    def set_seed(self, seed: int) -> None:
        """The next session starts with it, locked or not."""
        self._was_seed_chosen = True
        self._update_seed(seed)

    def next_seed(self) -> int:
        """A new random seed, unless it is locked or was set since the last session started."""
        if not self.is_seed_locked and not self._was_seed_chosen:
            self._update_seed(random_seed())
        self._was_seed_chosen = False
        return self.seed

    def _update_seed(self, seed: int) -> None:
        if 0 <= seed <= MAX_SEED and seed != self.seed:
            self.seed = seed
            self._settings.set("session/seed", str(seed))
            self.seed_changed.emit()

    def randomize_seed(self) -> None:
        """Set a new random seed."""
        self.set_seed(random_seed())

    def lock_seed(self, is_locked: bool) -> None:
        """Locked: every session and every episode starts with the same seed."""
        if is_locked != self.is_seed_locked:
            self.is_seed_locked = is_locked
            self._settings.set("session/seed_is_locked", "yes" if is_locked else "no")
            self.seed_changed.emit()

    def set_speed(self, speed: float) -> None:
        if speed != self.speed:
            self.speed = speed
            self._settings.set("session/speed", str(speed))
            self.speed_changed.emit()

    def record_played(self) -> None:
        """Move the environment to the front of the recent ones."""
        others = (env_id for env_id in self.recent if env_id != self.env_id)
        self.recent = (self.env_id, *others)[:_MAX_RECENT]
        self._settings.set("session/recent", " ".join(self.recent))

    def _saved_values(self) -> dict[str, Any]:
        try:
            saved = json.loads(self._settings.text(f"session/values/{self.entry.env_id}") or "{}")
        except ValueError:
            return {}
        # Drop fields that the catalog no longer has: the form would not show them.
        known = self.entry.defaults
        is_valid = isinstance(saved, dict)
        return {name: saved[name] for name in known if name in saved} if is_valid else {}


def random_seed() -> int:
    return secrets.randbelow(_RANDOM_SEED_LIMIT)


def _parse_seed(text: str) -> int:
    is_seed = text.isascii() and text.isdecimal() and int(text) <= MAX_SEED
    return int(text) if is_seed else random_seed()


def _parse_speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        return 1.0
    return speed if speed in SPEEDS else 1.0
