"""HeldKeys turns key presses and releases into actions."""

from gym_gui.play.model.play_keys import HeldKeys
from mosaic.envs.catalog import environment


def test_a_tap_is_one_action_and_a_held_key_repeats() -> None:
    """Turn-based: immediately, then after a delay, then at a fixed rate."""
    held = HeldKeys(environment("FrozenLake-v1"))
    assert held.press("right", 0.0) == [2]
    assert held.press("right", 0.01) == []
    assert held.tick(0.2) == []
    assert held.tick(0.36) == [2]
    assert held.tick(0.4) == []
    assert held.tick(0.52) == [2]
    assert held.release("right", 0.53) == []
    assert held.tick(2.0) == []
    assert not held.is_busy


def test_a_held_key_repeats_at_the_frame_rate() -> None:
    """CartPole steps only while a key is pressed, 50 times per second, without a delay."""
    held = HeldKeys(environment("CartPole-v1"))
    actions = held.press("left", 0.0)
    for tick in range(1, 63):
        actions += held.tick(tick * 0.016)
    assert set(actions) == {0}
    assert 45 <= len(actions) <= 52


def test_only_changes_are_sent_in_real_time() -> None:
    """A release sends the idle action."""
    held = HeldKeys(environment("LunarLander-v3"))
    assert held.press("up", 0.0) == [2]
    assert held.tick(0.5) == []
    assert held.press("left", 0.6) == [1]
    assert held.release("left", 0.7) == [2]
    assert held.release_all(0.8) == [0]
    assert held.release_all(0.9) == []


def test_an_axis_ramps_up_while_its_key_is_held_and_back() -> None:
    """The value ramps to its limit and returns to zero after the release."""
    held = HeldKeys(environment("Pendulum-v1"))
    sent = held.press("left", 0.0)
    for tick in range(1, 120):
        sent += held.tick(tick * 0.016)
    values = [action[0] for action in sent]
    assert values == sorted(values)
    assert values[-1] == 2.0
    held.release("left", 2.0)
    back = [action for tick in range(1, 120) for action in held.tick(2.0 + tick * 0.016)]
    assert back[-1] == [0.0]
    assert not held.is_busy


def test_an_alias_lights_the_cap_of_its_key() -> None:
    """WASD are aliases of the arrow keys."""
    held = HeldKeys(environment("FrozenLake-v1"))
    held.press("w", 0.0)
    assert held.is_lit("up")
    assert not held.is_lit("down")
