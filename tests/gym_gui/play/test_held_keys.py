"""Keys that go down and up become the actions an environment is sent."""

from gym_gui.play.model.held_keys import HeldKeys
from mosaic.envs.catalog import environment


def test_a_tap_is_one_action_and_a_held_key_acts_again() -> None:
    """Where people take turns: at once, then after a comfortable while, then steadily."""
    held = HeldKeys(environment("FrozenLake-v1"))
    assert held.press("right", 0.0) == [2]
    assert held.press("right", 0.01) == []
    assert held.beat(0.2) == []
    assert held.beat(0.36) == [2]
    assert held.beat(0.4) == []
    assert held.beat(0.52) == [2]
    assert held.release("right", 0.53) == []
    assert held.beat(2.0) == []
    assert not held.is_busy


def test_a_held_key_acts_at_the_pace_of_the_environment() -> None:
    """CartPole moves only while a key is down, fifty steps a second, without a first pause."""
    held = HeldKeys(environment("CartPole-v1"))
    actions = held.press("left", 0.0)
    for beat in range(1, 63):
        actions += held.beat(beat * 0.016)
    assert set(actions) == {0}
    assert 45 <= len(actions) <= 52


def test_only_changes_are_sent_where_the_worker_holds_the_last_action() -> None:
    """In real time a release goes back to doing nothing."""
    held = HeldKeys(environment("LunarLander-v3"))
    assert held.press("up", 0.0) == [2]
    assert held.beat(0.5) == []
    assert held.press("left", 0.6) == [1]
    assert held.release("left", 0.7) == [2]
    assert held.release_all(0.8) == [0]
    assert held.release_all(0.9) == []


def test_an_axis_moves_towards_its_end_while_its_key_is_held_and_back() -> None:
    """A pedal is pressed step by step, and comes back when it is let go."""
    held = HeldKeys(environment("Pendulum-v1"))
    sent = held.press("left", 0.0)
    for beat in range(1, 120):
        sent += held.beat(beat * 0.016)
    values = [action[0] for action in sent]
    assert values == sorted(values)
    assert values[-1] == 2.0
    held.release("left", 2.0)
    back = [action for beat in range(1, 120) for action in held.beat(2.0 + beat * 0.016)]
    assert back[-1] == [0.0]
    assert not held.is_busy


def test_another_key_for_the_same_lights_the_cap_that_is_shown() -> None:
    """WASD are arrows."""
    held = HeldKeys(environment("FrozenLake-v1"))
    held.press("w", 0.0)
    assert held.is_lit("up")
    assert not held.is_lit("down")
