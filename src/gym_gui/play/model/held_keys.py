"""HeldKeys: from keys that go down and up to the actions that an environment is sent.

Time is a parameter. Owned by `PlayModel`, which sends what comes back.
"""

from collections.abc import Sequence
from typing import Any

from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.key_maps import KeyMap

_SLOW_S = 0.1
"""From so long a step on, holding a key waits a little before it counts again: a tap is one."""
_FIRST_REPEAT_S = 0.35
_SLOWEST_REPEAT_S = 0.15
"""Whoever holds a key down wants to get on, however slowly the environment is meant to be seen."""


class HeldKeys:
    """What is held in one environment, in the order of pressing.

    Where people take turns each press is an action, and a key that stays down acts again and
    again. Elsewhere the worker holds the last action, so that only changes are sent.
    """

    def __init__(self, entry: EnvironmentEntry) -> None:
        self._map: KeyMap = entry.keys
        self._takes_turns = entry.turn_based
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

    def means_something(self, key: str) -> bool:
        return key in self._map.keys

    def is_lit(self, key: str) -> bool:
        """Whether it, or another key for the same, is down."""
        return any(self._map.aliases.get(held, held) == key for held in self._pressed)

    def press(self, key: str, now: float) -> list[Any]:
        """The actions to send at once."""
        if key in self._pressed or not self.means_something(key):
            return []
        self._pressed.append(key)
        if not self._takes_turns:
            return self._changed(now)
        action = self._map.action_for(self._pressed)
        self._repeat_at = now + self._first_repeat_s
        return [] if action is None else [action]

    def release(self, key: str, now: float) -> list[Any]:
        if key not in self._pressed:
            return []
        self._pressed.remove(key)
        return [] if self._takes_turns else self._changed(now)

    def release_all(self, now: float) -> list[Any]:
        """As when the window loses the keyboard."""
        self._pressed.clear()
        return [] if self._takes_turns else self._changed(now)

    def beat(self, now: float) -> list[Any]:
        """What is due by the mere passing of time."""
        if self._takes_turns:
            return self._repeated(now)
        return self._changed(now) if self._ramps and now - self._sent_at >= self._repeat_s else []

    @property
    def is_busy(self) -> bool:
        """Whether `beat` may have something to send soon."""
        return bool(self._pressed) or (self._ramps and self._sent != self._map.idle)

    def forget_sent(self) -> None:
        """Somebody else acted meanwhile, so that nothing is held by the worker any more."""
        self._sent = self._map.idle

    def _changed(self, now: float) -> list[Any]:
        # After a rest the first change is one step long, not as long as the rest.
        dt_s = min(now - self._sent_at, self._repeat_s)
        action = self._map.action_for(self._pressed, dt_s=dt_s, previous=self._sent)
        if action is None or action == self._sent:
            return []
        self._sent, self._sent_at = action, now
        return [action]

    def _repeated(self, now: float) -> list[Any]:
        if not self._pressed or now < self._repeat_at:
            return []
        # What a stalled window has missed is not made up for: nobody meant that many.
        self._repeat_at = max(self._repeat_at + self._repeat_s, now)
        action = self._map.action_for(self._pressed)
        return [] if action is None else [action]
