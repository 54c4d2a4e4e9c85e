"""Arrows, values and visits of each cell."""

from gym_gui.runtime.models.cell_policy import cell_policy
from gym_gui.runtime.models.visit_counts import VisitCounts
from mosaic.contract.events import PolicyEvent
from mosaic.envs.catalog import environment
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene


def scene_of(env_id: str, observation: int) -> GridScene:
    scene = scene_for(env_id, {}, observation)
    assert isinstance(scene, GridScene)
    return scene


def test_each_cell_of_frozen_lake_has_an_arrow_and_value() -> None:
    """Except holes, the goal and cells without values."""
    values = [[0.0, 0.1, 0.9, 0.0] for _ in range(16)]
    values[1] = [0.0] * 4
    keys = environment("FrozenLake-v1").keys
    policy_cells = cell_policy(PolicyEvent(q_values=values), scene_of("FrozenLake-v1", 0), 0, keys)
    assert policy_cells.arrows[0, 0] == "right"
    assert policy_cells.values[0, 0] == 0.9
    assert (0, 1) not in policy_cells.arrows
    assert (1, 1) not in policy_cells.arrows
    assert (3, 3) not in policy_cells.values


def test_the_taxi_policy_depends_on_the_passenger() -> None:
    """The rest of the state stays; actions that are not moves have a text."""
    actions: list[int | None] = [0] * 500
    actions[(0 * 5 + 0) * 20 + 1] = 4  # at the passenger, who is at red with destination green
    observation = (2 * 5 + 2) * 20 + 1
    keys = environment("Taxi-v4").keys
    scene = scene_of("Taxi-v4", observation)
    policy_cells = cell_policy(PolicyEvent(actions=actions), scene, observation, keys)
    assert policy_cells.labels == {(0, 0): "pick up"}
    assert policy_cells.arrows[2, 2] == "down"


def test_a_policy_of_another_environment_is_ignored() -> None:
    """Its states do not match the cells."""
    keys = environment("FrozenLake-v1").keys
    policy = PolicyEvent(actions=[0] * 7)
    assert cell_policy(policy, scene_of("FrozenLake-v1", 0), 0, keys).arrows == {}


def test_visits_are_counted_for_numbers_and_for_grid_worlds() -> None:
    """MiniGrid positions are (column, row)."""
    visits = VisitCounts()
    for observation in (0, 4, 4):
        visits.add("FrozenLake-v1", {}, observation, None)
    visits.add("MiniGrid-Empty-5x5-v0", {}, {"image": []}, {"agent": [2, 1]})
    assert visits.counts == {(0, 0): 1, (1, 0): 2, (1, 2): 1}
    visits.clear()
    assert visits.max_count == 0
