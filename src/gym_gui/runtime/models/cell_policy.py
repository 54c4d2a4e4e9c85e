"""CellPolicy: the action and the value of a policy for each cell of a grid.

For environments with a discrete observation that encodes the position of the agent.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from gym_gui.runtime.models.visit_counts import Cell
from mosaic.contract.events import PolicyEvent
from mosaic.envs.key_maps import KeyMap
from mosaic.envs.scenes.scene import Direction, GridScene

_DIRECTIONS: tuple[Direction, ...] = ("left", "right", "up", "down")
_WITHOUT_ACTION = ("hole", "goal", "wall", "lava", "cliff", "unseen")
"""Terminal cells, and cells that the agent cannot enter."""


@dataclass(frozen=True, slots=True)
class CellPolicy:
    """By row and column."""

    arrows: dict[Cell, Direction] = field(default_factory=dict)
    labels: dict[Cell, str] = field(default_factory=dict)
    """Labels of actions that are not moves."""
    values: dict[Cell, float] = field(default_factory=dict)

    @property
    def heat(self) -> dict[Cell, float]:
        """The values, scaled to the range 0 to 1."""
        if not self.values:
            return {}
        low, high = min(self.values.values()), max(self.values.values())
        spread = (high - low) or 1.0
        return {cell: (value - low) / spread for cell, value in self.values.items()}


def cell_policy(
    policy: PolicyEvent | None, scene: GridScene, observation: Any, keys: KeyMap
) -> CellPolicy:
    """Empty if the states of the policy do not correspond to the cells of the scene."""
    size = policy.states if policy else 0
    cells = scene.rows * scene.columns
    if policy is None or not isinstance(observation, int) or cells == 0 or size % cells:
        return CellPolicy()
    per_cell = size // cells
    if scene.agent is None or not 0 <= observation < size:
        return CellPolicy()
    agent_cell = observation // per_cell
    if (scene.agent.row, scene.agent.column) != divmod(agent_cell, scene.columns):
        return CellPolicy()  # observations do not enumerate the cells
    action_labels = {binding.action: binding.label for binding in keys.bindings}
    moves = {
        binding.action: direction
        for binding in keys.bindings
        for direction in _DIRECTIONS
        if binding.keys == (direction,)
    }
    result = CellPolicy()
    for cell in range(cells):
        row, column = divmod(cell, scene.columns)
        if scene.cells[row][column].kind in _WITHOUT_ACTION:
            continue
        # The rest of the state, such as the position of a taxi's passenger, is kept.
        state = cell * per_cell + observation % per_cell
        values = policy.q_values[state] if policy.q_values else []
        if values and math.isfinite(max(values)):
            result.values[row, column] = max(values)
        action = _action(policy, state, values)
        if action in moves:
            result.arrows[row, column] = moves[action]
        elif action is not None:
            result.labels[row, column] = action_labels.get(action, f"action {action}")
    return result


def _action(policy: PolicyEvent, state: int, values: list[float]) -> int | None:
    if values and max(values) == min(values):
        return None  # nothing learned yet: no action is preferred
    if policy.actions:
        return policy.actions[state]
    return values.index(max(values)) if values else None
