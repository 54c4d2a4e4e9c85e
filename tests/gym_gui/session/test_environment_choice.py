"""EnvironmentChoice: what is chosen, and that it comes back."""

import pytest

from gym_gui.session.model.environment_choice import AS_FAST_AS_IT_CAN, EnvironmentChoice
from mosaic.contract.errors import UserError
from tests.gym_gui.remembered import Remembered


def test_everything_chosen_is_there_at_the_next_start() -> None:
    """Environment, values, seed, its lock, speed and what was played are remembered."""
    memory = Remembered()
    choice = EnvironmentChoice(memory)
    choice.choose("LunarLander-v3")
    choice.set_values({"gravity": -5.0})
    choice.set_seed(7)
    choice.lock_seed(True)
    choice.set_speed(AS_FAST_AS_IT_CAN)
    choice.note_played()
    again = EnvironmentChoice(memory)
    assert (again.env_id, again.values, again.seed) == ("LunarLander-v3", {"gravity": -5.0}, 7)
    assert (again.is_seed_locked, again.speed) == (True, AS_FAST_AS_IT_CAN)
    assert again.recent == ("LunarLander-v3",)


def test_each_environment_has_its_own_values() -> None:
    """Going to another environment and back brings the values back."""
    choice = EnvironmentChoice(Remembered())
    choice.set_values({"is_slippery": False})
    choice.choose("CartPole-v1")
    assert choice.values == {}
    choice.choose("FrozenLake-v1")
    assert choice.values == {"is_slippery": False}
    assert choice.keywords() == {"is_slippery": False}


def test_what_was_remembered_may_be_nonsense() -> None:
    """A damaged or old settings file costs what it held, not the start."""
    memory = Remembered(
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
    """Typed or drawn, it counts for the next session; locked, for all of them."""
    choice = EnvironmentChoice(Remembered())
    choice.set_seed(10**18)
    assert choice.seed_to_begin_with() == 10**18
    assert choice.seed_to_begin_with() != 10**18
    choice.set_seed(5)
    choice.lock_seed(True)
    assert [choice.seed_to_begin_with() for _ in range(3)] == [5, 5, 5]


def test_values_that_cannot_be_are_named() -> None:
    """Each problem says its field; such values make no environment."""
    choice = EnvironmentChoice(Remembered())
    choice.set_values({"map_size": 1})
    assert [problem.field for problem in choice.problems] == ["map_size"]
    with pytest.raises(UserError, match="map_size"):
        choice.keywords()
