"""EnvironmentChoice: selections are applied and saved."""

import pytest

from gym_gui.session.model.environment_choice import MAX_SPEED, EnvironmentChoice
from mosaic.contract.errors import UserError
from tests.gym_gui.memory_settings import MemorySettings


def test_selections_are_restored_at_the_next_start() -> None:
    """Environment, values, seed, its lock, speed and recent environments are saved."""
    memory = MemorySettings()
    choice = EnvironmentChoice(memory)
    choice.choose("LunarLander-v3")
    choice.set_values({"gravity": -5.0})
    choice.set_seed(7)
    choice.lock_seed(True)
    choice.set_speed(MAX_SPEED)
    choice.record_played()
    again = EnvironmentChoice(memory)
    assert (again.env_id, again.values, again.seed) == ("LunarLander-v3", {"gravity": -5.0}, 7)
    assert (again.is_seed_locked, again.speed) == (True, MAX_SPEED)
    assert again.recent == ("LunarLander-v3",)


def test_each_environment_has_its_own_values() -> None:
    """Selecting another environment and then the first again restores its values."""
    choice = EnvironmentChoice(MemorySettings())
    choice.set_values({"is_slippery": False})
    choice.choose("CartPole-v1")
    assert choice.values == {}
    choice.choose("FrozenLake-v1")
    assert choice.values == {"is_slippery": False}
    assert choice.keywords() == {"is_slippery": False}


def test_invalid_saved_settings_are_ignored() -> None:
    """A damaged or old settings file does not prevent the start."""
    memory = MemorySettings(
        {
            "session/environment": "FrozenLake-v1",
            "session/values/FrozenLake-v1": '{"gone": 1, "is_slippery": false}',
            "session/seed": "²",
            "session/speed": "fast",
        }
    )
    choice = EnvironmentChoice(memory)
    assert choice.values == {"is_slippery": False}
    assert choice.seed >= 0
    assert choice.speed == 1.0
    memory["session/values/FrozenLake-v1"] = "[1"
    assert EnvironmentChoice(memory).values == {}


def test_a_seed_is_new_for_each_session_unless_chosen_or_locked() -> None:
    """A typed or random seed is used for the next session; a locked one for all."""
    choice = EnvironmentChoice(MemorySettings())
    choice.set_seed(10**18)
    assert choice.next_seed() == 10**18
    assert choice.next_seed() != 10**18
    choice.set_seed(5)
    choice.lock_seed(True)
    assert [choice.next_seed() for _ in range(3)] == [5, 5, 5]


def test_invalid_values_are_reported_by_field() -> None:
    """Each problem names its field; invalid values raise an error."""
    choice = EnvironmentChoice(MemorySettings())
    choice.set_values({"map_size": 1})
    assert [problem.field for problem in choice.problems] == ["map_size"]
    with pytest.raises(UserError, match="map_size"):
        choice.keywords()
