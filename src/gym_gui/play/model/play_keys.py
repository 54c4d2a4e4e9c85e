"""Keys of a play session: actions of the environment and session commands.

`HeldKeys` turns key presses into actions. `PlayKeys` assigns keys to session commands; they never
overlap with keys of the environment. `PlayModel` creates both per environment.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.key_maps import KeyMap, key_cap

_SLOW_S = 0.1
"""Steps longer than this delay the first repeat, so that a tap is one action."""
_FIRST_REPEAT_S = 0.35
_SLOWEST_REPEAT_S = 0.15
"""Maximum time between repeats, also where the environment renders slowly."""


class HeldKeys:
    """The pressed keys of one environment, in the order of pressing.

    In turn-based environments each press is an action, and a held key repeats it. In real-time
    environments the worker repeats the last action, so only changes are sent.
    """

    def __init__(self, entry: EnvironmentEntry) -> None:
        self._map: KeyMap = entry.keys
        self._is_turn_based = entry.turn_based
        step_s = 1 / max(1.0, entry.render_fps)
        self._repeat_s = min(step_s, _SLOWEST_REPEAT_S)
        self._first_repeat_s = _FIRST_REPEAT_S if step_s > _SLOW_S else self._repeat_s
        self._ramps = any(axis.ramp_per_s > 0 for axis in self._map.axes)
        self._pressed: list[str] = []
        self._sent: Any = self._map.idle
        self._sent_at = 0.0
        self._repeat_at = 0.0

    @property
    def pressed(self) -> Sequence[str]:
        return tuple(self._pressed)

    def is_mapped(self, key: str) -> bool:
        return key in self._map.keys

    def is_lit(self, key: str) -> bool:
        """Whether the key or one of its aliases is pressed."""
        return any(self._map.aliases.get(held, held) == key for held in self._pressed)

    def press(self, key: str, now: float) -> list[Any]:
        """Return the actions to send now."""
        if key in self._pressed or not self.is_mapped(key):
            return []
        self._pressed.append(key)
        if not self._is_turn_based:
            return self._changed(now)
        action = self._map.action_for(self._pressed)
        self._repeat_at = now + self._first_repeat_s
        return [] if action is None else [action]

    def release(self, key: str, now: float) -> list[Any]:
        if key not in self._pressed:
            return []
        self._pressed.remove(key)
        return [] if self._is_turn_based else self._changed(now)

    def release_all(self, now: float) -> list[Any]:
        """Release every key, for example when the window loses the focus."""
        self._pressed.clear()
        return [] if self._is_turn_based else self._changed(now)

    def tick(self, now: float) -> list[Any]:
        """Return the actions that are due at this time."""
        if self._is_turn_based:
            return self._repeated(now)
        return self._changed(now) if self._ramps and now - self._sent_at >= self._repeat_s else []

    @property
    def is_busy(self) -> bool:
        """Whether `tick` may return actions soon."""
        return bool(self._pressed) or (self._ramps and self._sent != self._map.idle)

    def reset_sent(self) -> None:
        """Another actor was in control, so the worker no longer holds an action."""
        self._sent = self._map.idle

    def _changed(self, now: float) -> list[Any]:
        # After an idle time the first change lasts one step, not the idle time.
        dt_s = min(now - self._sent_at, self._repeat_s)
        action = self._map.action_for(self._pressed, dt_s=dt_s, previous=self._sent)
        if action is None or action == self._sent:
            return []
        self._sent, self._sent_at = action, now
        return [action]

    def _repeated(self, now: float) -> list[Any]:
        if not self._pressed or now < self._repeat_at:
            return []
        # Repeats missed by a stalled window are dropped.
        self._repeat_at = max(self._repeat_at + self._repeat_s, now)
        action = self._map.action_for(self._pressed)
        return [] if action is None else [action]


SessionCommand = Literal["pause", "step", "reset", "takeover", "again"]


class _KeyChoice(NamedTuple):
    command: SessionCommand
    keys: tuple[str, ...]
    """Candidates, most preferred first. The last is the shortcut of the same window command and
    always free."""


_KEY_CHOICES = (
    _KeyChoice("takeover", ("t", "ctrl+t")),
    _KeyChoice("pause", ("space", "p", "ctrl+space")),
    _KeyChoice("step", ("n", "f10")),
    _KeyChoice("reset", ("r", "ctrl+shift+r")),
)
_AFTER_EPISODE: dict[str, SessionCommand] = {"enter": "again"}
"""Keys after the end of an episode, when no key of the environment has an effect."""


class PlayKeys:
    """Maps keys to session commands and back."""

    def __init__(self, environment: KeyMap) -> None:
        self._by_key: dict[str, SessionCommand] = {}
        self._keys: dict[SessionCommand, str] = {"again": "enter"}
        for choice in _KEY_CHOICES:
            key = next(key for key in choice.keys if key not in environment.keys)
            self._by_key[key] = choice.command
            self._keys[choice.command] = key

    def command(self, key: str, *, is_finished: bool = False) -> SessionCommand | None:
        """The command of a key, or None."""
        if is_finished and key in _AFTER_EPISODE:
            return _AFTER_EPISODE[key]
        return self._by_key.get(key)

    def key(self, command: SessionCommand) -> str:
        return self._keys[command]

    def cap(self, command: SessionCommand) -> str:
        """The label of the key."""
        *modifiers, key = self.key(command).split("+")
        return "+".join([*(name.capitalize() for name in modifiers), key_cap(key)])
