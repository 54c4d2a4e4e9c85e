"""Environments are created by id, described and recreated; every failure has a remedy."""

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from mosaic_worker.environments.factory import make_environment, resolved_id, resolved_kwargs
from mosaic_worker.environments.inspection import find_made_env, time_limit
from mosaic_worker.environments.spaces import PYTHON_VALUES, describe_space, to_action
from mosaic_worker.errors import WorkerError


@pytest.mark.parametrize(
    ("env_id", "env_kwargs", "message", "remedy"),
    [
        ("CartPoel-v1", {}, "Unknown environment CartPoel-v1", "Did you mean CartPole-v1"),
        ("CartPole-v1", {"gravity": 3}, "no argument 'gravity'", "sutton_barto_reward"),
        ("nowhere_at_all:Thing-v0", {}, "cannot be imported", "before the colon"),
        ("ALE/Pong-v5", {"frameskip": 0}, "could not be created", "env_kwargs"),
        (
            "FrozenLake-v1",
            {"map_name": "9x9"},
            "Unknown FrozenLake map '9x9'",
            "4x4, 8x8 or random",
        ),
        ("FrozenLake-v1", {"desc": ["SF", "FFG"]}, "not rectangular", "equal length"),
        ("FrozenLake-v1", {"desc": ["FF", "FG"]}, "no start", "Add an S"),
        ("FrozenLake-v1", {"desc": ["SF", "FF"]}, "no goal", "Add a G"),
        ("FrozenLake-v1", {"desc": ["SX", "FG"]}, "letter 'X'", "S .start., F .frozen."),
        ("FrozenLake-v1", {"desc": ["SHF", "HHF", "FFG"]}, "no path", "some of the holes"),
        (
            "FrozenLake-v1",
            {"map_name": None, "map_size": 1},
            "must be from 2 to 64, got 1",
            "map_size",
        ),
    ],
)
def test_creation_errors_have_a_remedy(
    env_id: str, env_kwargs: dict[str, Any], message: str, remedy: str
) -> None:
    """A typo, a missing module, a wrong argument and an invalid map have different errors."""
    with pytest.raises(WorkerError, match=message) as caught:
        make_environment(env_id, env_kwargs)
    assert caught.match(remedy)


def test_a_random_map_is_recreated_from_the_record() -> None:
    """It is recorded, whether the SDK or gymnasium generated it."""
    expected = {"map_name": "random", "map_size": 6, "map_seed": 3}
    from_sdk = make_environment("FrozenLake-v1", expected)
    from_gymnasium: Any = gymnasium.make("FrozenLake-v1", map_name=None)
    for env in (from_sdk, from_gymnasium):
        kwargs = resolved_kwargs(env)
        assert "map_name" not in kwargs
        again = make_environment("FrozenLake-v1", kwargs)
        assert (again.unwrapped.desc == env.unwrapped.desc).all()
    recreated = make_environment("FrozenLake-v1", expected)
    assert (recreated.unwrapped.desc == from_sdk.unwrapped.desc).all()


def test_an_id_with_its_module_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process has to import the module, which gymnasium does not remember."""
    (tmp_path / "own_envs.py").write_text(
        "import gymnasium\n"
        "from gymnasium.envs.classic_control import CartPoleEnv\n"
        "gymnasium.register('OwnEnv-v0', 'own_envs:CartPoleEnv', max_episode_steps=9)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    env = make_environment("own_envs:OwnEnv-v0", {})
    assert resolved_id(env) == "own_envs:OwnEnv-v0"
    assert resolved_id(gymnasium.make("OwnEnv-v0")) == "own_envs:OwnEnv-v0"
    assert resolved_id(gymnasium.make("CartPole-v1")) == "CartPole-v1"
    del gymnasium.registry["OwnEnv-v0"]


def test_the_made_environment_is_found_below_other_wrappers() -> None:
    """Its own time limit is found, not that of a wrapper around it."""
    made = gymnasium.make("CartPole-v1")
    wrapped = gymnasium.wrappers.TimeLimit(gymnasium.wrappers.TransformReward(made, float), 7)
    assert find_made_env(wrapped) is made
    assert time_limit(made) == 500
    unlimited = gymnasium.make("CartPole-v1", max_episode_steps=-1)
    assert find_made_env(gymnasium.wrappers.TransformReward(unlimited, float)) is unlimited
    assert time_limit(unlimited) is None


def test_descriptions_of_spaces() -> None:
    """Equal bounds are one number, and infinity is written as in the protocol."""
    space = spaces.Dict(
        {
            "a": spaces.Discrete(4, start=1),
            "b": spaces.Box(-1, 1, (2,), np.float32),
            "c": spaces.Tuple((spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(3))),
            "d": spaces.Box(np.array([0, -np.inf]), np.array([1, np.inf]), dtype=np.float64),
            "e": spaces.Graph(spaces.Discrete(2), None),
        }
    )
    described = describe_space(space)
    assert described["spaces"]["a"] == {"type": "discrete", "n": 4, "start": 1}
    assert described["spaces"]["b"]["low"] == -1.0
    assert described["spaces"]["d"]["low"] == [0.0, "-Infinity"]
    assert described["spaces"]["c"]["spaces"][0] == {"type": "multi_discrete", "nvec": [2, 3]}
    assert described["spaces"]["e"] == {"type": "other", "name": "Graph"}


def test_actions_from_json() -> None:
    """Actions from commands and records are accepted by the environment."""
    box = spaces.Box(-1, 1, (2,), np.float32)
    action = to_action(box, [0.5, "NaN"])
    assert action.dtype == np.float32
    assert action[0] == 0.5
    assert np.isnan(action[1])
    assert to_action(box, [0.1, 0.2], "float64").tolist() == [0.1, 0.2]
    assert to_action(box, [0.1, 0.2], PYTHON_VALUES) == [0.1, 0.2]
    assert to_action(spaces.Discrete(3), 2.0) == 2
    both = spaces.Dict({"x": spaces.Discrete(2), "y": spaces.Tuple((box,))})
    nested = to_action(both, {"x": 1, "y": [[0, 0]]})
    assert both.contains(nested)


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (spaces.Discrete(3), 3),
        (spaces.Discrete(3), "left"),
        (spaces.Discrete(3), 1.5),
        (spaces.Box(-1, 1, (2,), np.float32), [1.0]),
        (spaces.Box(-1, 1, (2,), np.float32), "up"),
        (spaces.MultiBinary(2), [0, 2]),
        (spaces.Tuple((spaces.Discrete(2),)), [0, 1]),
        (spaces.Dict({"x": spaces.Discrete(2)}), {"y": 1}),
    ],
)
def test_invalid_actions_are_rejected(space: Any, value: Any) -> None:
    """A wrong key or client does not end a session with a traceback."""
    with pytest.raises(WorkerError, match="is not an action of"):
        to_action(space, value)
