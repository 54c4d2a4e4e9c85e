"""Making key maps: for the families of the catalog, and for any space that is not in it."""

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
"""Down and up of the first, second, … joint: neighbours on the keyboard."""

_RAMP_PER_S = 4.0
_BOUND_OF_THE_UNBOUNDED = 1.0
_MOST_COMPONENTS = 64
"""Of an action: nobody plays with more."""
_JOYSTICK = {"UP": "up", "DOWN": "down", "RIGHT": "right", "LEFT": "left", "FIRE": "space"}
_IDLE_WORDS = ("noop", "no-op", "nothing", "stay", "idle", "none", "coast")
_WORDS = {
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
    """One key for each action: `{"left": (0, "move left")}`; only aliases that lead to one stay."""
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
    """Directions and a button, in the words of the Arcade Learning Environment."""
    bindings = []
    for action, meaning in enumerate(meanings):
        keys = _stick_keys(meaning)
        if keys:
            bindings.append(KeyBinding(keys=keys, action=action, label=_stick_label(meaning)))
    bound = {binding.keys for binding in bindings}
    # A game that only knows "right and fire" must answer to the right key alone.
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


def rotate_to_vertical(stick: KeyMap) -> KeyMap:
    """The keys up and down for what the stick calls right and left; those work, too."""
    turned = {"right": "up", "left": "down"}
    bindings = tuple(
        KeyBinding(
            keys=tuple(turned.get(key, key) for key in binding.keys),
            action=binding.action,
            label=" + ".join(turned.get(word, word) for word in binding.label.split(" + ")),
        )
        for binding in stick.bindings
    )
    return KeyMap(bindings=bindings, aliases={"w": "up", "s": "down", **turned}, idle=stick.idle)


def joint_keys(labels: Sequence[str], low: float, high: float) -> KeyMap:
    """A pair of neighbouring keys for each joint of a robot."""
    axes = tuple(
        KeyAxis(
            index=index,
            label=label,
            low=low,
            high=high,
            down_keys=(_JOINT_KEYS[index][0],),
            up_keys=(_JOINT_KEYS[index][1],),
            ramp_per_s=_RAMP_PER_S,
            sources=_stick_of(index),
        )
        for index, label in enumerate(labels)
    )
    return KeyMap(axes=axes, idle=[0.0] * len(labels))


def slider_keys(label: str, limit: float, *, is_inverted: bool = False) -> KeyMap:
    """One number from `-limit` to `limit`: left and right, mouse or stick."""
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
    """Keys for a space as `environment` lines describe it.

    Where nothing sensible can be made of it the map is empty: agents can act there, and people
    cannot.
    """
    try:
        return _for_space(action_space, action_meanings)
    except (TypeError, ValueError, OverflowError):  # a worker wrote it, and nobody has checked it
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
            return _for_many([int(count) for count in action_space.get("nvec", ())])
        case "multi_binary":
            shape = action_space.get("shape", ())
            is_row = len(shape) == 1 and shape[0] <= _MOST_COMPONENTS
            return _for_many([2] * shape[0]) if is_row else KeyMap()
        case _:
            return KeyMap()


def _for_discrete(space: Mapping[str, Any], meanings: Sequence[str]) -> KeyMap:
    count, first = int(space.get("n", 0)), int(space.get("start", 0))
    if len(meanings) != count:
        meanings = ()
    if meanings and not first and all(map(_is_of_a_joystick, meanings)):
        return joystick_keys(meanings)
    idle = None
    named: dict[str, tuple[int, str]] = {}
    unnamed: list[tuple[int, str]] = []
    for at in range(count if meanings else min(count, len(_DIGITS_AND_LETTERS))):
        label = meanings[at] if meanings else f"action {first + at}"
        word = label.lower()
        key = _WORDS.get(word.removeprefix("move ").removeprefix("turn "))
        if meanings and idle is None and word in _IDLE_WORDS:
            idle = first + at
        elif meanings and key and key not in named:
            named[key] = (first + at, label)
        else:
            unnamed.append((first + at, label))
    free = iter(_DIGITS_AND_LETTERS)
    named |= {key: each for each, key in zip(unnamed, free, strict=False)}
    return discrete_keys(named, idle=idle)


def _for_box(space: Mapping[str, Any]) -> KeyMap:
    shape = list(space.get("shape", ()))
    if len(shape) != 1 or not 0 < shape[0] <= len(_JOINT_KEYS):
        return KeyMap()
    count = shape[0]
    bounds = zip(_bounds(space.get("low"), count), _bounds(space.get("high"), count), strict=True)
    is_whole = "int" in str(space.get("dtype", ""))  # nothing between two numbers is an action
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
            ramp_per_s=0.0 if is_whole else _RAMP_PER_S,
            sources=() if is_whole else _stick_of(index),
        )
        for index, (low, high) in enumerate(starmap(_within_reach, bounds))
    )
    return KeyMap(axes=axes, aliases=WASD if count <= 2 else {}, idle=[axis.rest for axis in axes])


def _for_many(counts: Sequence[int]) -> KeyMap:
    """One key for each value of each component; the other components are 0 meanwhile."""
    if not 0 < len(counts) <= _MOST_COMPONENTS:
        return KeyMap()
    choices = ((at, value) for at, count in enumerate(counts) for value in range(1, count))
    bindings = tuple(
        KeyBinding(
            keys=(key,),
            action=[value if at == each else 0 for each in range(len(counts))],
            label=f"component {at} = {value}",
        )
        for (at, value), key in zip(choices, _DIGITS_AND_LETTERS, strict=False)
    )
    return KeyMap(bindings=bindings, idle=[0] * len(counts))


def _stick_of(index: int) -> tuple[AnalogSource, ...]:
    sticks: tuple[AnalogSource, ...] = (
        "gamepad_left_x",
        "gamepad_left_y",
        "gamepad_right_x",
        "gamepad_right_y",
    )
    return sticks[index : index + 1]


def _bounds(given: Any, count: int) -> list[float | None]:
    """One for each number; None: unbounded."""
    values = given if isinstance(given, list) else [given] * count
    return [
        float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None
        for value in values
    ]


def _within_reach(low: float | None, high: float | None) -> tuple[float, float]:
    """What keys go between: a side without a bound is as far from 0, or from the other side."""
    far = _BOUND_OF_THE_UNBOUNDED
    if low is None:
        low = -far if high is None else min(-far, high - far)
    return low, max(far, low + far) if high is None else high


def _is_of_a_joystick(meaning: str) -> bool:
    return meaning == "NOOP" or bool(_stick_keys(meaning))


@cache
def _stick_keys(meaning: str) -> tuple[str, ...]:
    """`UPRIGHTFIRE` is up, right and the space bar."""
    keys, rest = [], meaning
    for word, key in _JOYSTICK.items():
        if rest.startswith(word):
            keys.append(key)
            rest = rest.removeprefix(word)
    return tuple(keys) if keys and not rest else ()


@cache
def _stick_label(meaning: str) -> str:
    words = ["fire" if key == "space" else key for key in _stick_keys(meaning)]
    return " + ".join(words)
