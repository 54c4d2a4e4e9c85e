"""Steps of workers are arbitrary: invalid ones have no scene and raise no exception."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene, Scene, TextScene

_IDS = (
    "FrozenLake-v1",
    "FrozenLake8x8-v1",
    "CliffWalking-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "MiniGrid-Empty-5x5-v0",
    "BabyAI-GoToObj-v0",
    "CartPole-v1",
)
_small = st.integers(-2, 12)
_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.binary()
)
_anything = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
_cells = st.lists(
    st.lists(st.lists(_small, min_size=2, max_size=4), min_size=1, max_size=3),
    min_size=1,
    max_size=3,
)
_renders = st.fixed_dictionaries(
    {},
    optional={
        "grid": _cells | _anything,
        "agent": st.lists(_small, max_size=3) | _anything,
        "dir": _small | _anything,
        "carrying": st.none() | st.lists(_small, max_size=4) | _anything,
        "mission": _anything,
        "player": st.lists(_small) | _anything,
        "dealer": st.lists(_small) | _anything,
    },
)
_observations = (
    _small
    | st.integers(0, 600)
    | st.lists(_small | st.booleans(), max_size=4)
    | st.fixed_dictionaries({"image": _cells | _anything, "mission": _anything})
    | _anything
)
_kwargs = st.fixed_dictionaries(
    {},
    optional={
        "desc": st.lists(st.text("SFHGx", max_size=4), max_size=4) | _anything,
        "map_name": st.sampled_from(["4x4", "8x8", "9x9"]) | _anything,
    },
)


@given(st.sampled_from(_IDS), _kwargs | _anything, _observations, _renders | _anything, _anything)
def test_any_step_is_a_valid_scene_or_none(
    env_id: str, env_kwargs: Any, observation: Any, render: Any, action: Any
) -> None:
    """No exception is raised, and the agent is never outside its grid."""
    for is_finished in (False, True):
        scene = scene_for(
            env_id, env_kwargs, observation, render, action=action, is_finished=is_finished
        )
        assert scene is None or _is_valid(scene)


def _is_valid(scene: Scene) -> bool:
    if isinstance(scene, TextScene):
        return bool(scene.lines)
    assert isinstance(scene, GridScene)
    positions = [(marker.row, marker.column) for marker in scene.markers]
    if scene.agent is not None:
        positions.append((scene.agent.row, scene.agent.column))
    return (
        len(scene.cells) == scene.rows
        and all(len(row) == scene.columns for row in scene.cells)
        and all(0 <= row < scene.rows and 0 <= column < scene.columns for row, column in positions)
    )


@pytest.mark.parametrize(
    ("env_id", "env_kwargs", "observation"),
    [
        ("FrozenLake-v1", {}, 16),
        ("FrozenLake-v1", {}, -1),
        ("FrozenLake-v1", {}, True),
        ("FrozenLake-v1", {}, 1.0),
        ("FrozenLake-v1", {"desc": ["SF", "G"]}, 0),
        ("FrozenLake-v1", {"desc": ["SX", "FG"]}, 0),
        ("FrozenLake-v1", {"desc": ["S" * 300] * 2}, 0),
        ("FrozenLake-v1", {"map_name": None}, 0),
        ("CliffWalking-v1", {}, 48),
        ("Taxi-v4", {}, 500),
        ("Blackjack-v1", {}, [22, 11, 0]),
        ("Blackjack-v1", {}, [22, 10]),
        ("MiniGrid-Empty-5x5-v0", {}, {"image": [[[1, 0, 0]], [[1, 0, 0], [1, 0, 0]]]}),
        ("MiniGrid-Empty-5x5-v0", {}, {"image": [[[11, 0, 0]]]}),
    ],
)
def test_out_of_range_values_have_no_scene(
    env_id: str, env_kwargs: dict[str, Any], observation: Any
) -> None:
    """The result is None instead of a wrong scene."""
    assert scene_for(env_id, env_kwargs, observation) is None


def test_an_invalid_agent_has_no_scene() -> None:
    """The agent is outside the grid, or has an invalid direction or carried object."""
    valid = {"grid": [[[1, 0, 0]] * 3] * 2, "agent": [1, 2], "dir": 0, "carrying": None}
    assert scene_for("MiniGrid-Empty-5x5-v0", {}, {}, valid) is not None
    for wrong in ({"agent": [2, 2]}, {"agent": [0]}, {"dir": 4}, {"carrying": [5, 9, 0]}):
        assert scene_for("MiniGrid-Empty-5x5-v0", {}, {}, valid | wrong) is None
