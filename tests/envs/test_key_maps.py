"""Pressed keys and the resulting actions."""

import pytest

from mosaic.envs import catalog
from mosaic.envs.key_map_builders import discrete_keys, joystick_keys, key_map_for_space
from mosaic.envs.key_maps import KeyAxis, KeyMap, key_cap

STICK = ("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "RIGHTFIRE", "UPRIGHTFIRE")


def steering(ramp_per_s: float = 2.0) -> KeyMap:
    """Return a key map with one axis from -1 to 1."""
    axis = KeyAxis(
        index=0,
        label="steer",
        low=-1.0,
        high=1.0,
        down_keys=("left",),
        up_keys=("right",),
        ramp_per_s=ramp_per_s,
        sources=("mouse_x", "gamepad_left_x"),
    )
    return KeyMap(axes=(axis,), aliases={"a": "left"}, idle=[0.0])


def test_keys_held_together_are_one_action() -> None:
    """Up, right and fire together are the combined action, in any order."""
    keys = joystick_keys(STICK)
    assert keys.action_for(["space", "right", "up"]) == STICK.index("UPRIGHTFIRE")
    assert keys.action_for(["right", "up"]) == STICK.index("UPRIGHT")
    assert keys.action_for(["w", "d", "space"]) == STICK.index("UPRIGHTFIRE")


def test_opposite_keys_cancel() -> None:
    """Left and right together have no effect; other pressed keys do."""
    keys = joystick_keys(STICK)
    assert keys.action_for(["left", "right"]) == STICK.index("NOOP")
    assert keys.action_for(["left", "right", "up"]) == STICK.index("UP")
    assert steering(0.0).action_for(["a", "right"]) == [0.0]


def test_the_last_pressed_key_wins_among_exclusive_actions() -> None:
    """A lander can fire only one engine at a time."""
    keys = catalog.environment("LunarLander-v3").keys
    assert keys.action_for(["left", "up"]) == 2
    assert keys.action_for(["up", "left"]) == 1
    assert keys.action_for([]) == 0


def test_other_keys_are_ignored() -> None:
    """Keys of the window do not act in the environment."""
    lake = catalog.environment("FrozenLake-v1").keys
    assert lake.action_for(["x"]) is None
    assert lake.action_for(["x", "left"]) == 0


def test_a_game_without_plain_directions() -> None:
    """Atlantis fires its side guns only with a direction and the button."""
    keys = catalog.environment("ALE/Atlantis-v5").keys
    assert keys.action_for(["right"]) == keys.action_for(["right", "space"]) == 2
    assert keys.action_for(["space"]) == 1


def test_an_axis_ramps_and_returns() -> None:
    """Pressing and releasing change the value gradually."""
    keys, value = steering(), [0.0]
    values = []
    for _ in range(4):
        value = keys.action_for(["right"], dt_s=0.1, previous=value)
        values.append(round(value[0], 6))
    assert values == [0.4, 0.8, 1.0, 1.0]
    assert keys.action_for([], dt_s=0.1, previous=value) == [pytest.approx(0.6)]
    assert keys.action_for([], dt_s=9.0, previous=value) == [0.0]
    assert keys.action_for(["a"], dt_s=0.1, previous=value) == [pytest.approx(0.6)]


def test_a_stick_or_the_mouse_sets_an_axis() -> None:
    """While the stick is centred, the keys apply."""
    keys = steering()
    assert keys.action_for(["left"], analog={"gamepad_left_x": 0.5}) == [0.5]
    assert keys.action_for(["left"], dt_s=1.0, analog={"gamepad_left_x": 0.05}) == [-1.0]
    assert keys.action_for([], analog={"mouse_x": -2.0}) == [-1.0]


def test_a_trigger_moves_an_axis_from_rest_to_high() -> None:
    """Gas and brake have one direction, and combine with the wheel."""
    keys = catalog.environment("CarRacing-v3").keys
    action = keys.action_for(
        ["left"],
        dt_s=1.0,
        previous=[0.0, 0.0, 0.0],
        analog={"gamepad_right_trigger": 0.5, "gamepad_left_trigger": 1.0},
    )
    assert action == [-1.0, 0.5, 0.8]
    assert keys.action_for(["up", "right"], dt_s=1.0) == [1.0, 1.0, 0.0]


def test_left_turns_a_pendulum_to_the_left() -> None:
    """Its torque is counter-clockwise, for keys and mouse."""
    keys = catalog.environment("Pendulum-v1").keys
    assert keys.action_for(["left"], dt_s=1.0) == [2.0]
    assert keys.action_for([], analog={"mouse_x": -1.0}) == [2.0]


def test_hints_show_each_key_once() -> None:
    """Combinations are omitted when each key has a hint."""
    caps = [hint.caps for hint in joystick_keys(STICK).hints()]
    assert caps == [("Space",), ("↑",), ("→",), ("←",), ("↓",)]
    assert [hint.caps for hint in steering().hints()] == [("←", "→")]
    assert key_cap("q") == "Q"


def test_a_map_matches_its_space_only() -> None:
    """Keys of the minimal action set do not match the full joystick."""
    pong = catalog.environment("ALE/Pong-v5").keys
    assert pong.fits({"type": "discrete", "n": 6, "start": 0})
    assert not pong.fits({"type": "discrete", "n": 18, "start": 0})
    assert steering().fits({"type": "box", "shape": [1]})
    assert not steering().fits({"type": "box", "shape": [2]})


def test_key_map_for_any_discrete_space() -> None:
    """From the action meanings, else by number."""
    named = key_map_for_space({"type": "discrete", "n": 4}, ["noop", "left", "right", "dig"])
    assert (named.idle, named.action_for(["right"]), named.action_for(["1"])) == (0, 2, 3)
    counted = key_map_for_space({"type": "discrete", "n": 3, "start": 5})
    assert [counted.action_for([key]) for key in "123"] == [5, 6, 7]
    assert counted.idle is None


def test_key_map_for_any_box_vector() -> None:
    """Within its bounds, or within -1 and 1 if it has none."""
    space = {"type": "box", "shape": [2], "low": [0.5, "-Infinity"], "high": [2.0, "Infinity"]}
    keys = key_map_for_space(space)
    assert keys.idle == [0.5, 0.0]
    assert keys.action_for(["right", "down"], dt_s=1.0) == [2.0, -1.0]
    assert keys.fits(space)


def test_a_missing_bound_is_derived_from_the_other() -> None:
    """Every value is a valid action: at least 5, and at most -3."""
    space = {"type": "box", "shape": [2], "low": [5.0, "-Infinity"], "high": ["Infinity", -3.0]}
    keys = key_map_for_space(space)
    assert keys.idle == [5.0, -3.0]
    assert keys.action_for(["right", "up"], dt_s=9.0) == [6.0, -3.0]
    assert keys.action_for(["left", "down"], dt_s=9.0) == [5.0, -4.0]


def test_integer_axes_do_not_ramp() -> None:
    """The environment would reject a fraction."""
    space = {"type": "box", "shape": [1], "low": 0, "high": 10, "dtype": "int32"}
    assert key_map_for_space(space).action_for(["right"], dt_s=0.01) == [10.0]


@pytest.mark.parametrize(
    "space",
    [
        {"type": "discrete", "n": 10**12},
        {"type": "discrete", "n": "many", "start": None},
        {"type": "box", "shape": None},
        {"type": "box", "shape": [2], "low": [0.0], "high": [1.0, 1.0]},
        {"type": "multi_discrete", "nvec": [10**12, 2]},
        {"type": "multi_discrete", "nvec": [[2, 2], [2, 2]]},
        {"type": "multi_binary", "shape": [10**9]},
        {"type": ["discrete"]},
    ],
)
def test_any_space_description_is_handled(space: dict[str, object]) -> None:
    """A huge or invalid space raises no error and gives at most 36 bindings."""
    for env_id in ("FrozenLake-v1", "Pendulum-v1", "my_module:Any-v0"):
        entry = catalog.with_action_space(catalog.environment(env_id), space)
        assert len(entry.keys.bindings) <= 36


@pytest.mark.parametrize(
    ("space", "pressed", "action"),
    [
        ({"type": "multi_discrete", "nvec": [2, 3]}, ["3"], [0, 2]),
        ({"type": "multi_binary", "shape": [2]}, ["2"], [0, 1]),
        ({"type": "box", "shape": [84, 84, 3], "low": 0, "high": 1}, ["a"], None),
        ({"type": "text"}, ["a"], None),
        ({}, ["a"], None),
    ],
)
def test_keys_for_other_spaces(
    space: dict[str, object], pressed: list[str], action: object
) -> None:
    """Unsupported spaces have no keys and raise no error."""
    assert key_map_for_space(space).action_for(pressed) == action


def test_bindings_take_precedence_over_aliases() -> None:
    """`s` is stick in Blackjack, not down."""
    keys = discrete_keys({"s": (0, "stick"), "down": (1, "down")})
    assert keys.action_for(["s"]) == 0
