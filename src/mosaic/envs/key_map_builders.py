"""Builds key maps for the families of the catalog, and for any other action space."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import starmap
from typing import Any

from mosaic.envs.key_maps import AnalogSource, KeyAxis, KeyBinding, KeyMap

WASD = {"w": "up", "a": "left", "s": "down", "d": "right"}

_DIGITS_AND_LETTERS = tuple("1234567890qwertyuiopasdfghjklzxcvbnm")
_JOINT_KEYS = (
    *(("a", "q"), ("s", "w"), ("d", "e"), ("f", "r"), ("g", "t"), ("h", "y"), ("j", "u")),
    *(("k", "i"), ("l", "o"), ("z", "x"), ("c", "v"), ("b", "n"), ("m", "comma")),
    *(("1", "2"), ("3", "4"), ("5", "6"), ("7", "8")),
)
"""Keys that decrease and increase the first, second, … joint: neighbours on the keyboard."""

_RAMP_PER_S = 4.0
_DEFAULT_BOUND = 1.0
_MAX_COMPONENTS = 64
"""Maximum number of components of an action that can be played with keys."""
_JOYSTICK = {"UP": "up", "DOWN": "down", "RIGHT": "right", "LEFT": "left", "FIRE": "space"}
_NOOP_NAMES = ("noop", "no-op", "nothing", "stay", "idle", "none", "coast")
_KEY_BY_NAME = {
    "left": "left",
    "right": "right",
    "up": "up",
    "forward": "up",
    "down": "down",
    "backward": "down",
    "fire": "space",
    "jump": "space",
}


def discrete_keys(
    bindings: Mapping[str, tuple[int, str]],
    *,
    idle: int | None = None,
    aliases: Mapping[str, str] = WASD,
) -> KeyMap:
    """Map one key to each action: `{"left": (0, "move left")}`. Unused aliases are dropped."""
    return KeyMap(
        bindings=tuple(
            KeyBinding(keys=(key,), action=action, label=label)
            for key, (action, label) in bindings.items()
        ),
        aliases={
            other: key
            for other, key in aliases.items()
            if key in bindings and other not in bindings
        },
        idle=idle,
    )


def joystick_keys(meanings: Sequence[str]) -> KeyMap:
    """Map directions and fire to the action meanings of the Arcade Learning Environment."""
    bindings = []
    for action, meaning in enumerate(meanings):
        keys = _stick_keys(meaning)
        if keys:
            bindings.append(KeyBinding(keys=keys, action=action, label=_stick_label(meaning)))
    bound = {binding.keys for binding in bindings}
    # A game that only has RIGHTFIRE must react to the right key alone.
    bindings += [
        KeyBinding(keys=binding.keys[:1], action=binding.action, label=binding.label)
        for binding in bindings
        if len(binding.keys) == 2 and "space" in binding.keys and binding.keys[:1] not in bound
    ]
    return KeyMap(
        bindings=tuple(bindings),
        aliases=WASD,
        idle=meanings.index("NOOP") if "NOOP" in meanings else None,
    )


def rotate_to_vertical(joystick: KeyMap) -> KeyMap:
    """Map the keys up and down to RIGHT and LEFT; left and right keep working."""
    rotated = {"right": "up", "left": "down"}
    bindings = tuple(
        KeyBinding(
            keys=tuple(rotated.get(key, key) for key in binding.keys),
            action=binding.action,
            label=" + ".join(rotated.get(word, word) for word in binding.label.split(" + ")),
        )
        for binding in joystick.bindings
    )
    return KeyMap(
        bindings=bindings, aliases={"w": "up", "s": "down", **rotated}, idle=joystick.idle
    )


def joint_keys(labels: Sequence[str], low: float, high: float) -> KeyMap:
    """Map a pair of neighbouring keys to each joint of a robot."""
    axes = tuple(
        KeyAxis(
            index=index,
            label=label,
            low=low,
            high=high,
            down_keys=(_JOINT_KEYS[index][0],),
            up_keys=(_JOINT_KEYS[index][1],),
            ramp_per_s=_RAMP_PER_S,
            sources=_stick_for(index),
        )
        for index, label in enumerate(labels)
    )
    return KeyMap(axes=axes, idle=[0.0] * len(labels))


def slider_keys(label: str, limit: float, *, is_inverted: bool = False) -> KeyMap:
    """Map left and right, mouse or stick to one value from `-limit` to `limit`."""
    down, up = ("right", "left") if is_inverted else ("left", "right")
    axis = KeyAxis(
        index=0,
        label=label,
        low=-limit,
        high=limit,
        down_keys=(down,),
        up_keys=(up,),
        ramp_per_s=_RAMP_PER_S,
        sources=("mouse_x", "gamepad_left_x"),
        is_inverted=is_inverted,
    )
    return KeyMap(axes=(axis,), aliases={"a": "left", "d": "right"}, idle=[0.0])


def key_map_for_space(
    action_space: Mapping[str, Any], action_meanings: Sequence[str] | None = None
) -> KeyMap:
    """Build a key map for a space, as described in `environment` events.

    An unsupported space gets an empty map: agents can act in it, humans cannot.
    """
    try:
        return _for_space(action_space, action_meanings)
    except (TypeError, ValueError, OverflowError):
        # The description comes from a worker and is not validated.
        return KeyMap()


def _for_space(
    action_space: Mapping[str, Any], action_meanings: Sequence[str] | None = None
) -> KeyMap:
    match action_space.get("type"):
        case "discrete":
            return _for_discrete(action_space, action_meanings or ())
        case "box":
            return _for_box(action_space)
        case "multi_discrete":
            return _for_components([int(count) for count in action_space.get("nvec", ())])
        case "multi_binary":
            shape = action_space.get("shape", ())
            is_row = len(shape) == 1 and shape[0] <= _MAX_COMPONENTS
            return _for_components([2] * shape[0]) if is_row else KeyMap()
        case _:
            return KeyMap()


def _for_discrete(space: Mapping[str, Any], meanings: Sequence[str]) -> KeyMap:
    count, first = int(space.get("n", 0)), int(space.get("start", 0))
    if len(meanings) != count:
        meanings = ()
    if meanings and not first and all(map(_is_joystick_action, meanings)):
        return joystick_keys(meanings)
    idle = None
    named: dict[str, tuple[int, str]] = {}
    unnamed: list[tuple[int, str]] = []
    for index in range(count if meanings else min(count, len(_DIGITS_AND_LETTERS))):
        label = meanings[index] if meanings else f"action {first + index}"
        name = label.lower()
        key = _KEY_BY_NAME.get(name.removeprefix("move ").removeprefix("turn "))
        if meanings and idle is None and name in _NOOP_NAMES:
            idle = first + index
        elif meanings and key and key not in named:
            named[key] = (first + index, label)
        else:
            unnamed.append((first + index, label))
    free = iter(_DIGITS_AND_LETTERS)
    named |= {key: action for action, key in zip(unnamed, free, strict=False)}
    return discrete_keys(named, idle=idle)


def _for_box(space: Mapping[str, Any]) -> KeyMap:
    shape = list(space.get("shape", ()))
    if len(shape) != 1 or not 0 < shape[0] <= len(_JOINT_KEYS):
        return KeyMap()
    count = shape[0]
    bounds = zip(_bounds(space.get("low"), count), _bounds(space.get("high"), count), strict=True)
    is_integer = "int" in str(space.get("dtype", ""))  # values in between are not valid actions
    pairs = (("left", "right"), ("down", "up")) if count <= 2 else _JOINT_KEYS
    axes = tuple(
        KeyAxis(
            index=index,
            label=f"component {index}",
            low=low,
            high=high,
            down_keys=(pairs[index][0],),
            up_keys=(pairs[index][1],),
            rest=max(low, min(high, 0.0)),
            ramp_per_s=0.0 if is_integer else _RAMP_PER_S,
            sources=() if is_integer else _stick_for(index),
        )
        for index, (low, high) in enumerate(starmap(_limit_bounds, bounds))
    )
    return KeyMap(axes=axes, aliases=WASD if count <= 2 else {}, idle=[axis.rest for axis in axes])


def _for_components(counts: Sequence[int]) -> KeyMap:
    """Map one key to each value of each component; the other components are 0."""
    if not 0 < len(counts) <= _MAX_COMPONENTS:
        return KeyMap()
    choices = ((chosen, value) for chosen, count in enumerate(counts) for value in range(1, count))
    bindings = tuple(
        KeyBinding(
            keys=(key,),
            action=[value if index == chosen else 0 for index in range(len(counts))],
            label=f"component {chosen} = {value}",
        )
        for (chosen, value), key in zip(choices, _DIGITS_AND_LETTERS, strict=False)
    )
    return KeyMap(bindings=bindings, idle=[0] * len(counts))


def _stick_for(index: int) -> tuple[AnalogSource, ...]:
    sticks: tuple[AnalogSource, ...] = (
        "gamepad_left_x",
        "gamepad_left_y",
        "gamepad_right_x",
        "gamepad_right_y",
    )
    return sticks[index : index + 1]


def _bounds(given: Any, count: int) -> list[float | None]:
    """Return one bound per component; None: unbounded."""
    values = given if isinstance(given, list) else [given] * count
    return [
        float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None
        for value in values
    ]


def _limit_bounds(low: float | None, high: float | None) -> tuple[float, float]:
    """Replace missing bounds by finite ones relative to 0 or to the other bound."""
    size = _DEFAULT_BOUND
    if low is None:
        low = -size if high is None else min(-size, high - size)
    return low, max(size, low + size) if high is None else high


def _is_joystick_action(meaning: str) -> bool:
    return meaning == "NOOP" or bool(_stick_keys(meaning))


@cache
def _stick_keys(meaning: str) -> tuple[str, ...]:
    """Return the keys of an action: `UPRIGHTFIRE` is up, right and space."""
    keys, rest = [], meaning
    for word, key in _JOYSTICK.items():
        if rest.startswith(word):
            keys.append(key)
            rest = rest.removeprefix(word)
    return tuple(keys) if keys and not rest else ()


@cache
def _stick_label(meaning: str) -> str:
    names = ["fire" if key == "space" else key for key in _stick_keys(meaning)]
    return " + ".join(names)
