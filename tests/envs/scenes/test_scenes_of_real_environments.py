"""Scenes match the state of real environments."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium
import minigrid
import pytest

from mosaic.envs.catalog import environments
from mosaic.envs.scenes.factory import has_scene, scene_for
from mosaic.envs.scenes.scene import GridCell, GridScene, TextScene

_STEPS = 300


class EnvSnapshot(NamedTuple):
    """An environment after a reset or a step."""

    env: Any
    observation: Any
    action: Any
    is_finished: bool


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    gymnasium.register_envs(minigrid)


def _random_play(env_id: str, steps: int = _STEPS, **env_kwargs: Any) -> Iterator[EnvSnapshot]:
    env = gymnasium.make(env_id, **env_kwargs)
    env.action_space.seed(7)
    observation, _ = env.reset(seed=7)
    yield EnvSnapshot(env.unwrapped, observation, None, False)
    for _ in range(steps):
        action = env.action_space.sample()
        observation, _, terminated, truncated, _ = env.step(action)
        yield EnvSnapshot(env.unwrapped, observation, action, bool(terminated or truncated))
        if terminated or truncated:
            observation, _ = env.reset()
            yield EnvSnapshot(env.unwrapped, observation, None, False)
    env.close()


def _grid(
    env_id: str, snapshot: EnvSnapshot, env_kwargs: Any = None, render: Any = None
) -> GridScene:
    observation = snapshot.observation
    scene = scene_for(
        env_id,
        env_kwargs,
        observation if isinstance(observation, dict) else int(observation),
        render,
        action=None if snapshot.action is None else int(snapshot.action),
        is_finished=snapshot.is_finished,
    )
    assert isinstance(scene, GridScene)
    assert scene.agent is not None
    assert (len(scene.cells), {len(row) for row in scene.cells}) == (scene.rows, {scene.columns})
    return scene


@pytest.mark.parametrize(
    ("env_id", "env_kwargs"),
    [
        ("FrozenLake-v1", {}),
        ("FrozenLake8x8-v1", {}),
        ("FrozenLake-v1", {"map_name": "8x8"}),
        ("FrozenLake-v1", {"desc": ["SFHF", "FFFG"], "is_slippery": False}),
    ],
)
def test_frozen_lake_scene_matches(env_id: str, env_kwargs: dict[str, Any]) -> None:
    """Map and position of the agent equal those of the environment."""
    letters = {"start": "S", "floor": "F", "hole": "H", "goal": "G"}
    for snapshot in _random_play(env_id, **env_kwargs):
        scene = _grid(env_id, snapshot, env_kwargs)
        assert scene.agent is not None
        assert scene.agent.row * scene.columns + scene.agent.column == snapshot.env.s
        lines = ["".join(letters[cell.kind] for cell in row) for row in scene.cells]
        assert lines == [b"".join(row).decode() for row in snapshot.env.desc]


@pytest.mark.parametrize("env_id", ["CliffWalking-v1", "CliffWalkingSlippery-v1"])
def test_cliff_walking_scene_matches(env_id: str) -> None:
    """The agent is never on a cliff cell."""
    for snapshot in _random_play(env_id):
        scene = _grid(env_id, snapshot)
        assert scene.agent is not None
        assert scene.agent.row * scene.columns + scene.agent.column == snapshot.env.s
        assert scene.cells[scene.agent.row][scene.agent.column].kind != "cliff"
        cliff = [[cell.kind == "cliff" for cell in row] for row in scene.cells]
        assert cliff == snapshot.env._cliff.tolist()


def test_taxi_scene_matches() -> None:
    """Taxi, passenger, destination and walls equal those of the environment."""
    seen_riding = False
    for snapshot in _random_play("Taxi-v4", steps=3000):
        scene = _grid("Taxi-v4", snapshot)
        row, column, passenger, destination = snapshot.env.decode(snapshot.env.s)
        assert scene.agent is not None
        assert (scene.agent.row, scene.agent.column) == (row, column)
        positions = {marker.kind: (marker.row, marker.column) for marker in scene.markers}
        assert positions["destination"] == snapshot.env.locs[destination]
        assert scene.agent.passenger == (passenger == len(snapshot.env.locs))
        seen_riding = seen_riding or scene.agent.passenger
        if not scene.agent.passenger:
            assert positions["passenger"] == snapshot.env.locs[passenger]
    assert seen_riding
    walls = {
        (row, column)
        for row in range(5)
        for column in range(4)
        if snapshot.env.desc[1 + row, 2 * column + 2] == b"|"
    }
    assert {(wall.row, wall.column) for wall in scene.walls} == walls
    stands = [
        (scene.cells[row][column].label, snapshot.env.desc[1 + row, 2 * column + 1].decode())
        for row, column in snapshot.env.locs
    ]
    assert all(label == letter for label, letter in stands)


def test_taxi_walls_block_moves() -> None:
    """Moves to the right are blocked exactly by the scene's walls and the border."""
    env: Any = gymnasium.make("Taxi-v4").unwrapped
    scene = scene_for("Taxi-v4", None, 0)
    assert isinstance(scene, GridScene)
    walls = {(wall.row, wall.column) for wall in scene.walls}
    for row in range(5):
        for column in range(5):
            (_, after, _, _) = env.P[env.encode(row, column, 0, 1)][2][0]
            _, new_column, *_ = env.decode(after)
            assert (new_column != column) == (column < 4 and (row, column) not in walls)


def test_blackjack_hides_the_dealers_cards_until_the_end() -> None:
    """Both hands and their values; all cards of the dealer are visible at the end."""
    ends = 0
    for snapshot in _random_play("Blackjack-v1"):
        render = {"player": list(snapshot.env.player), "dealer": list(snapshot.env.dealer)}
        observation = [int(value) for value in snapshot.observation]
        scene = scene_for("Blackjack-v1", {}, observation, render, is_finished=snapshot.is_finished)
        assert isinstance(scene, TextScene)
        dealer, player = scene.lines
        assert player.values == tuple("A" if card == 1 else str(card) for card in render["player"])
        assert player.note.startswith(f"= {observation[0]}")
        assert ("ace" in player.note) == (bool(observation[2]) and observation[0] <= 21)
        assert len(dealer.values) == len(render["dealer"])
        assert ("?" in dealer.values) == (not snapshot.is_finished)
        ends += snapshot.is_finished
    assert ends > 10


def test_blackjack_without_cards_shows_the_observation() -> None:
    """A run without recorded cards still has a scene."""
    scene = scene_for("Blackjack-v1", {}, [18, 1, 1])
    assert isinstance(scene, TextScene)
    assert [(line.values, line.note) for line in scene.lines] == [
        (("A", "?"), ""),
        ((), "= 18, ace counts as 11"),
    ]


def _render(env: Any) -> dict[str, Any]:
    """Return the `render` field as the session worker writes it."""
    return {
        "grid": env.grid.encode().tolist(),
        "agent": [int(coordinate) for coordinate in env.agent_pos],
        "dir": int(env.agent_dir),
        "carrying": list(env.carrying.encode()) if env.carrying else None,
        "mission": env.mission,
    }


@pytest.mark.parametrize(
    "env_id",
    [
        "MiniGrid-DoorKey-5x5-v0",
        "MiniGrid-LavaCrossingS9N1-v0",
        "MiniGrid-MultiRoom-N6-v0",
        "MiniGrid-Fetch-5x5-N2-v0",
        "MiniGrid-UnlockPickup-v0",
        "BabyAI-GoToRedBall-v0",
    ],
)
def test_minigrid_scene_matches(env_id: str) -> None:
    """Objects with cell and colour, door states, and the agent's direction."""
    directions = ("right", "down", "left", "up")
    for snapshot in _random_play(env_id):
        env = snapshot.env
        scene = _grid(env_id, snapshot, render=_render(env))
        agent = scene.agent
        assert agent is not None
        assert (agent.column, agent.row) == tuple(env.agent_pos)
        assert agent.direction == directions[env.agent_dir]
        assert (agent.carrying is None) == (env.carrying is None)
        if agent.carrying is not None:
            assert agent.carrying.label == f"{env.carrying.color} {env.carrying.type}"
        assert (scene.rows, scene.columns) == (env.grid.height, env.grid.width)
        for row in range(scene.rows):
            for column in range(scene.columns):
                _check_cell(scene.cells[row][column], env.grid.get(column, row))
        assert scene.caption == env.mission


def _check_cell(cell: GridCell, real: Any) -> None:
    if real is None:
        assert cell.kind == "floor"
        return
    assert cell.kind == real.type
    if real.type == "door":
        state = "locked" if real.is_locked else "open" if real.is_open else "closed"
        assert (cell.state, cell.colour) == (state, real.color)
    if real.type in ("key", "ball", "box"):
        assert cell.colour == real.color


def test_minigrid_without_a_grid_shows_the_agent_view() -> None:
    """The cell in front of the agent is the one above it."""
    for snapshot in _random_play("MiniGrid-DoorKey-6x6-v0", steps=100):
        observation = {
            "image": snapshot.observation["image"].tolist(),
            "direction": int(snapshot.observation["direction"]),
            "mission": snapshot.observation["mission"],
        }
        scene = _grid("MiniGrid-DoorKey-6x6-v0", snapshot._replace(observation=observation))
        agent = scene.agent
        assert agent is not None
        assert (agent.row, agent.column, agent.direction) == (6, 3, "up")
        _check_cell(scene.cells[5][3], snapshot.env.grid.get(*snapshot.env.front_pos))


def test_other_environments_have_no_scene() -> None:
    """Ids with scenes are recognised in any version and with any module prefix."""
    assert has_scene("gymnasium:FrozenLake-v1")
    assert has_scene("BabyAI-GoToObj-v0")
    for env_id in ("CartPole-v1", "tabular/Blackjack-v0", "FrozenLakeExtra-v1", ""):
        assert not has_scene(env_id)
        assert scene_for(env_id, {}, 0) is None


def test_catalog_views_match_the_scenes() -> None:
    """Exactly the entries with a grid or text view have a scene."""
    for entry in environments():
        assert bool({"grid", "text"} & {*entry.views}) == has_scene(entry.env_id), entry.env_id
