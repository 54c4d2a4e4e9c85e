"""The keys of the session never take one of the environment's."""

from gym_gui.play.model.play_keys import PlayKeys
from mosaic.envs.catalog import environment, environments


def test_pause_moves_aside_where_space_means_something() -> None:
    """Space, else P, else with Ctrl."""
    assert PlayKeys(environment("FrozenLake-v1").keys).cap("pause") == "Space"
    assert PlayKeys(environment("Blackjack-v1").keys).cap("pause") == "P"
    assert PlayKeys(environment("HalfCheetah-v5").keys).cap("reset") == "Ctrl+Shift+R"


def test_no_key_of_any_environment_is_taken() -> None:
    """Of all that the catalog lists."""
    for entry in environments():
        steering = PlayKeys(entry.keys)
        assert not [key for key in entry.keys.keys if steering.steering(key) is not None]


def test_enter_plays_again_only_once_the_episode_is_over() -> None:
    """Before, it may be a key of the environment."""
    keys = PlayKeys(environment("Blackjack-v1").keys)
    assert keys.steering("enter") is None
    assert keys.steering("enter", is_over=True) == "again"
