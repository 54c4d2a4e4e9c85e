"""Key maps: convert keys, mouse and gamepad input to actions of an environment.

The window and `mosaic play` pass the pressed keys and send the result as the `value` of an `action`
command. A map is immutable and stateless: callers pass the previous value of an axis that ramps.

Keys have lower-case names: `a`, `7`, `left`, `right`, `up`, `down`, `space`, `enter`, `tab`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import msgspec

AnalogSource = Literal[
    "mouse_x",
    "mouse_y",
    "gamepad_left_x",
    "gamepad_left_y",
    "gamepad_right_x",
    "gamepad_right_y",
    "gamepad_left_trigger",
    "gamepad_right_trigger",
]
"""Each is a number from -1 (left, down) to 1 (right, up); triggers are 0 to 1."""

_OPPOSITES = (("left", "right"), ("up", "down"))
_STICK_DEAD_ZONE = 0.12
"""Below this deflection a gamepad stick counts as centred, and the keys apply."""

_CAPS = {"left": "←", "right": "→", "up": "↑", "down": "↓", "comma": ","}
_NAMED_CAPS = {"space": "Space", "enter": "Enter", "tab": "Tab"}


class KeyBinding(msgspec.Struct, frozen=True, kw_only=True):
    """A combination of keys for one action."""

    keys: tuple[str, ...]
    action: Any
    label: str


class KeyAxis(msgspec.Struct, frozen=True, kw_only=True):
    """One component of a continuous action, controlled by keys or a stick."""

    index: int
    label: str
    low: float
    high: float
    down_keys: tuple[str, ...] = ()
    """Keys that move it towards `low`."""
    up_keys: tuple[str, ...] = ()
    rest: float = 0.0
    """Value when nothing is pressed."""
    ramp_per_s: float = 0.0
    """Rate of change by keys, as a fraction of `high - low` per second; 0: immediate."""
    sources: tuple[AnalogSource, ...] = ()
    is_inverted: bool = False
    """Whether the direction of `sources` is inverted."""

    def value(
        self,
        pressed: Collection[str],
        *,
        dt_s: float,
        previous: float,
        analog: Mapping[str, float],
    ) -> float:
        """Return the value after `dt_s` seconds."""
        analog_value = self._analog_value(analog)
        if analog_value is not None:
            return analog_value
        down = any(key in pressed for key in self.down_keys)
        up = any(key in pressed for key in self.up_keys)
        target = self.rest if down == up else self.low if down else self.high
        if self.ramp_per_s <= 0:
            return target
        max_change = self.ramp_per_s * (self.high - self.low) * dt_s
        return max(previous - max_change, min(previous + max_change, target))

    def _analog_value(self, analog: Mapping[str, float]) -> float | None:
        for source in self.sources:
            if source not in analog:
                continue
            deflection = max(-1.0, min(1.0, analog[source] * (-1 if self.is_inverted else 1)))
            if source.startswith("gamepad") and abs(deflection) < _STICK_DEAD_ZONE:
                continue
            end = self.high if deflection > 0 else self.low
            return self.rest + abs(deflection) * (end - self.rest)
        return None


class KeyHint(msgspec.Struct, frozen=True):
    """Label of one binding: the key caps and what they do."""

    caps: tuple[str, ...]
    label: str


class KeyMap(msgspec.Struct, frozen=True, kw_only=True):
    """The controls of one environment.

    Either `bindings` of keys to discrete actions, or `axes` for the components of a continuous one.
    """

    bindings: tuple[KeyBinding, ...] = ()
    axes: tuple[KeyAxis, ...] = ()
    aliases: dict[str, str] = {}
    """Alternative keys, such as `a` for `left`."""
    idle: Any = None
    """Action when nothing is pressed; null: the environment waits for a key."""

    @property
    def keys(self) -> frozenset[str]:
        """All keys that are in use; views must not bind them to anything else."""
        of_bindings = (key for binding in self.bindings for key in binding.keys)
        of_axes = (key for axis in self.axes for key in (*axis.down_keys, *axis.up_keys))
        return frozenset((*of_bindings, *of_axes, *self.aliases))

    def action_for(
        self,
        pressed: Sequence[str],
        *,
        dt_s: float = 0.0,
        previous: Any = None,
        analog: Mapping[str, float] | None = None,
    ) -> Any:
        """Return the action as a JSON value; `idle` when no binding matches.

        `pressed` is in order of pressing: of two bindings with equally many keys, the one pressed
        last wins. Opposite directions cancel each other. `previous` is the previous action, from
        which axes ramp for `dt_s` seconds. `analog` has the values of the active sources.
        """
        held = _cancel_opposites([self.aliases.get(key, key) for key in pressed])
        if self.axes:
            return self._axes_action(held, dt_s, previous, analog or {})
        best, best_rank = self.idle, (0, -1)
        for binding in self.bindings:
            if binding.keys and all(key in held for key in binding.keys):
                rank = (len(binding.keys), max(held.index(key) for key in binding.keys))
                if rank > best_rank:
                    best, best_rank = binding.action, rank
        return best

    def _axes_action(
        self, held: list[str], dt_s: float, previous: Any, analog: Mapping[str, float]
    ) -> list[float]:
        action = [float(value) for value in self.idle]
        for axis in self.axes:
            before = float(previous[axis.index]) if previous is not None else axis.rest
            action[axis.index] = axis.value(held, dt_s=dt_s, previous=before, analog=analog)
        return action

    def hints(self) -> tuple[KeyHint, ...]:
        """Return the labels to show, in the order of the map.

        Combinations are omitted when each of their keys has its own label.
        """
        single = {
            key for binding in self.bindings if len(binding.keys) == 1 for key in binding.keys
        }
        from_bindings = (
            KeyHint(tuple(map(key_cap, binding.keys)), binding.label)
            for binding in self.bindings
            if len(binding.keys) == 1 or not single.issuperset(binding.keys)
        )
        from_axes = (
            KeyHint(tuple(map(key_cap, (*axis.down_keys[:1], *axis.up_keys[:1]))), axis.label)
            for axis in self.axes
        )
        return (*from_bindings, *from_axes)

    def fits(self, action_space: Mapping[str, Any]) -> bool:
        """Return whether the map fits an action space, as described in `environment` events."""
        kind = action_space.get("type")
        if self.axes:
            return kind == "box" and action_space.get("shape") == [len(self.idle)]
        if kind != "discrete":
            return False
        actions = [self.idle, *(binding.action for binding in self.bindings)]
        numbers = sorted({action for action in actions if isinstance(action, int)})
        first, count = action_space.get("start", 0), action_space.get("n", 0)
        if not isinstance(first, int) or len(numbers) != count:
            return False
        return numbers == list(range(first, first + len(numbers)))


def key_cap(key: str) -> str:
    """Return the label of a key: an arrow, a capital letter, or its name."""
    return _CAPS.get(key) or _NAMED_CAPS.get(key) or key.upper()


def _cancel_opposites(pressed: list[str]) -> list[str]:
    cancelled = {key for pair in _OPPOSITES if all(key in pressed for key in pair) for key in pair}
    return [key for key in pressed if key not in cancelled]
