"""EnvironmentChoice: which environment, with which settings, start and speed. Remembered.

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

FIRST_ENVIRONMENT = "FrozenLake-v1"
AS_FAST_AS_IT_CAN = 0.0
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, AS_FAST_AS_IT_CAN)
_DRAWN_BELOW = 1_000_000
"""Seeds that are drawn stay short enough to be read out and typed in."""
_MOST_RECENT = 6


class EnvironmentChoice(QObject):
    """All of it is for the UI thread."""

    environment_changed = Signal(str)
    values_changed = Signal()
    seed_changed = Signal()
    speed_changed = Signal()

    def __init__(self, memory: TextSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._memory = memory
        self.entry: EnvironmentEntry = environment(
            memory.text("session/environment") or FIRST_ENVIRONMENT
        )
        self.values: dict[str, Any] = self._kept_values()
        """Of those fields that were set to something else than their default."""
        self.seed = _seed_in(memory.text("session/seed"))
        self._was_seed_chosen = False
        self.is_seed_locked = memory.text("session/seed_is_locked") == "yes"
        self.speed = _speed_in(memory.text("session/speed"))
        recent = memory.text("session/recent")
        self.recent: tuple[str, ...] = tuple(recent.split()) if recent else ()
        """The environments that were played last, the newest first."""

    @property
    def env_id(self) -> str:
        return self.entry.env_id

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the values, field by field."""
        return check_values(self.entry, self.values)

    def keywords(self) -> dict[str, Any]:
        """What the environment is made with. Raises `EnvironmentValuesError`."""
        return env_kwargs(self.entry, self.values)

    def choose(self, env_id: str) -> None:
        """Any id; the values that it had the last time come back."""
        env_id = env_id.strip()
        if not env_id or env_id == self.env_id:
            return
        self.entry = environment(env_id)
        self.values = self._kept_values()
        self._memory.keep("session/environment", env_id)
        self.environment_changed.emit(env_id)

    def set_values(self, values: Mapping[str, Any]) -> None:
        if dict(values) == self.values:
            return
        self.values = dict(values)
        self._memory.keep(f"session/values/{self.env_id}", json.dumps(self.values))
        self.values_changed.emit()

    def set_seed(self, seed: int) -> None:
        """The next session begins with it, locked or not."""
        self._was_seed_chosen = True
        self._show_seed(seed)

    def seed_to_begin_with(self) -> int:
        """A new one, unless it is locked or was chosen since the last session began."""
        if not self.is_seed_locked and not self._was_seed_chosen:
            self._show_seed(draw_seed())
        self._was_seed_chosen = False
        return self.seed

    def _show_seed(self, seed: int) -> None:
        if 0 <= seed <= MAX_SEED and seed != self.seed:
            self.seed = seed
            self._memory.keep("session/seed", str(seed))
            self.seed_changed.emit()

    def roll_seed(self) -> None:
        """Another start, by chance."""
        self.set_seed(draw_seed())

    def lock_seed(self, is_locked: bool) -> None:
        """Locked: every session and every episode begins alike."""
        if is_locked != self.is_seed_locked:
            self.is_seed_locked = is_locked
            self._memory.keep("session/seed_is_locked", "yes" if is_locked else "no")
            self.seed_changed.emit()

    def set_speed(self, speed: float) -> None:
        if speed != self.speed:
            self.speed = speed
            self._memory.keep("session/speed", str(speed))
            self.speed_changed.emit()

    def note_played(self) -> None:
        """It comes first among the recent ones."""
        others = (env_id for env_id in self.recent if env_id != self.env_id)
        self.recent = (self.env_id, *others)[:_MOST_RECENT]
        self._memory.keep("session/recent", " ".join(self.recent))

    def _kept_values(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._memory.text(f"session/values/{self.entry.env_id}") or "{}")
        except ValueError:
            return {}
        # A field that the catalog no longer has would be sent as a keyword that nobody sees.
        known = self.entry.defaults
        is_sound = isinstance(kept, dict)
        return {name: kept[name] for name in known if name in kept} if is_sound else {}


def draw_seed() -> int:
    return secrets.randbelow(_DRAWN_BELOW)


def _seed_in(text: str) -> int:
    is_seed = text.isascii() and text.isdecimal() and int(text) <= MAX_SEED
    return int(text) if is_seed else draw_seed()


def _speed_in(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        return 1.0
    return speed if speed in SPEEDS else 1.0
