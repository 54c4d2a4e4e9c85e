"""Session commands never use a key of the environment."""

from gym_gui.play.model.play_keys import PlayKeys
from mosaic.envs.catalog import environment, environments


def test_pause_uses_another_key_if_space_is_mapped() -> None:
    """Space, then P, then with Ctrl."""
    assert PlayKeys(environment("FrozenLake-v1").keys).cap("pause") == "Space"
    assert PlayKeys(environment("Blackjack-v1").keys).cap("pause") == "P"
    assert PlayKeys(environment("HalfCheetah-v5").keys).cap("reset") == "Ctrl+Shift+R"


def test_no_key_of_any_environment_is_used() -> None:
    """For all environments in the catalog."""
    for entry in environments():
        keys = PlayKeys(entry.keys)
        assert not [key for key in entry.keys.keys if keys.command(key) is not None]


def test_enter_restarts_only_a_finished_episode() -> None:
    """During the episode it may be a key of the environment."""
    keys = PlayKeys(environment("Blackjack-v1").keys)
    assert keys.command("enter") is None
    assert keys.command("enter", is_finished=True) == "again"
