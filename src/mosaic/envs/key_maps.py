"""Which action a person means: keys, mouse and gamepad to the value that an environment is sent.

The window and `mosaic play` hand in what is pressed and send what comes back as the `value` of an
`action` command. A map is immutable and holds no state: an axis that ramps is told its last value.

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
_STICK_AT_REST = 0.12
"""Below this a gamepad's stick stands still, and the keys decide."""

_CAPS = {"left": "←", "right": "→", "up": "↑", "down": "↓", "comma": ","}
_LONG_CAPS = {"space": "Space", "enter": "Enter", "tab": "Tab"}


class KeyBinding(msgspec.Struct, frozen=True, kw_only=True):
    """Keys that, held together, are one action."""

    keys: tuple[str, ...]
    action: Any
    label: str


class KeyAxis(msgspec.Struct, frozen=True, kw_only=True):
    """One number of a continuous action, pushed down and up by keys or set by a stick."""

    index: int
    label: str
    low: float
    high: float
    down_keys: tuple[str, ...] = ()
    """Push towards `low`; any of them does."""
    up_keys: tuple[str, ...] = ()
    rest: float = 0.0
    """Where it returns to when nothing is pressed."""
    ramp_per_s: float = 0.0
    """How fast keys change it, as a share of `high - low`; 0: at once."""
    sources: tuple[AnalogSource, ...] = ()
    is_inverted: bool = False
    """Whether `sources` count the other way round."""

    def value(
        self,
        pressed: Collection[str],
        *,
        dt_s: float,
        previous: float,
        analog: Mapping[str, float],
    ) -> float:
        """Where it stands after `dt_s` seconds."""
        held = self._held(analog)
        if held is not None:
            return held
        down = any(key in pressed for key in self.down_keys)
        up = any(key in pressed for key in self.up_keys)
        goal = self.rest if down == up else self.low if down else self.high
        if self.ramp_per_s <= 0:
            return goal
        most = self.ramp_per_s * (self.high - self.low) * dt_s
        return max(previous - most, min(previous + most, goal))

    def _held(self, analog: Mapping[str, float]) -> float | None:
        for source in self.sources:
            if source not in analog:
                continue
            share = max(-1.0, min(1.0, analog[source] * (-1 if self.is_inverted else 1)))
            if source.startswith("gamepad") and abs(share) < _STICK_AT_REST:
                continue
            end = self.high if share > 0 else self.low
            return self.rest + abs(share) * (end - self.rest)
        return None


class KeyHint(msgspec.Struct, frozen=True):
    """What a view prints of one binding: the caps of its keys, and what they do."""

    caps: tuple[str, ...]
    label: str


class KeyMap(msgspec.Struct, frozen=True, kw_only=True):
    """All that a person can do in one environment.

    Either `bindings` of keys to whole actions, or `axes` that make up a list of numbers.
    """

    bindings: tuple[KeyBinding, ...] = ()
    axes: tuple[KeyAxis, ...] = ()
    aliases: dict[str, str] = {}
    """Other keys for the same: `a` for `left`."""
    idle: Any = None
    """The action when nothing is pressed; null: the environment waits for a key."""

    @property
    def keys(self) -> frozenset[str]:
        """Every key that means something here, for views that must not use it otherwise."""
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
        """The action as a JSON value; `idle` when what is pressed means nothing.

        `pressed` is in the order of pressing: where two actions claim as many keys, the one
        pressed last wins. Opposite directions cancel each other. `previous` is the last action,
        from which axes ramp for `dt_s` seconds. `analog` has the sources that are in use.
        """
        held = _without_opposites([self.aliases.get(key, key) for key in pressed])
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
        """What to show on the screen, in the order of the map.

        Keys held together are left out where each of them is shown alone: up and fire explain
        themselves.
        """
        alone = {key for binding in self.bindings if len(binding.keys) == 1 for key in binding.keys}
        from_bindings = (
            KeyHint(tuple(map(key_cap, binding.keys)), binding.label)
            for binding in self.bindings
            if len(binding.keys) == 1 or not alone.issuperset(binding.keys)
        )
        from_axes = (
            KeyHint(tuple(map(key_cap, (*axis.down_keys[:1], *axis.up_keys[:1]))), axis.label)
            for axis in self.axes
        )
        return (*from_bindings, *from_axes)

    def fits(self, action_space: Mapping[str, Any]) -> bool:
        """Whether its actions belong to this space, as `environment` lines describe it."""
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
    """A key as it is printed: an arrow, a capital letter, or its name."""
    return _CAPS.get(key) or _LONG_CAPS.get(key) or key.upper()


def _without_opposites(pressed: list[str]) -> list[str]:
    cancelled = {key for pair in _OPPOSITES if all(key in pressed for key in pair) for key in pair}
    return [key for key in pressed if key not in cancelled]
