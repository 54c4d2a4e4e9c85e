"""What a policy would do on each cell of a grid, and what it thinks the cell is worth.

For environments whose observation is one number that says where the agent stands. Used by
`PlayModel` and `LiveModel`; painted by their grids.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from gym_gui.runtime.models.visit_counts import Cell
from mosaic.contract.events import PolicyEvent
from mosaic.envs.key_maps import KeyMap
from mosaic.envs.scenes.scene import Direction, GridScene

_DIRECTIONS: tuple[Direction, ...] = ("left", "right", "up", "down")
_WITHOUT_ARROW = ("hole", "goal", "wall", "lava", "cliff", "unseen")
"""The episode ends there, or the agent cannot stand there."""


@dataclass(frozen=True, slots=True)
class CellPolicy:
    """By row and column."""

    arrows: dict[Cell, Direction] = field(default_factory=dict)
    others: dict[Cell, str] = field(default_factory=dict)
    """Labels of actions that are not moves."""
    values: dict[Cell, float] = field(default_factory=dict)

    @property
    def heat(self) -> dict[Cell, float]:
        """The values as shares, from 0 for the least to 1 for the most."""
        if not self.values:
            return {}
        least, most = min(self.values.values()), max(self.values.values())
        spread = (most - least) or 1.0
        return {place: (value - least) / spread for place, value in self.values.items()}


def cell_policy(
    policy: PolicyEvent | None, scene: GridScene, observation: Any, keys: KeyMap
) -> CellPolicy:
    """Empty where the policy's numbers do not belong to the cells of the scene."""
    size = policy.states if policy else 0
    cells = scene.rows * scene.columns
    if policy is None or not isinstance(observation, int) or cells == 0 or size % cells:
        return CellPolicy()
    per_cell = size // cells
    if scene.agent is None or not 0 <= observation < size:
        return CellPolicy()
    place = observation // per_cell
    if (scene.agent.row, scene.agent.column) != divmod(place, scene.columns):
        return CellPolicy()  # its numbers are not counted cell by cell
    labels = {binding.action: binding.label for binding in keys.bindings}
    moves = {
        binding.action: direction
        for binding in keys.bindings
        for direction in _DIRECTIONS
        if binding.keys == (direction,)
    }
    found = CellPolicy()
    for cell in range(cells):
        row, column = divmod(cell, scene.columns)
        if scene.cells[row][column].kind in _WITHOUT_ARROW:
            continue
        # The rest of the number, such as where a taxi's passenger is, stays as it is now.
        number = cell * per_cell + observation % per_cell
        values = policy.q_values[number] if policy.q_values else []
        if values and math.isfinite(max(values)):
            found.values[row, column] = max(values)
        action = _action(policy, number, values)
        if action in moves:
            found.arrows[row, column] = moves[action]
        elif action is not None:
            found.others[row, column] = labels.get(action, f"action {action}")
    return found


def _action(policy: PolicyEvent, number: int, values: list[float]) -> int | None:
    if values and max(values) == min(values):
        return None  # nothing learnt here yet: an arrow would claim a preference
    if policy.actions:
        return policy.actions[number]
    return values.index(max(values)) if values else None
