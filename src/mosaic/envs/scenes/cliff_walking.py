"""CliffWalking: four rows of twelve, the cliff along the bottom between start and goal."""

from typing import Any

from mosaic.envs.scenes.plain_values import whole_number
from mosaic.envs.scenes.scene import Agent, Cell, Direction, GridScene, LegendEntry

ROWS, COLUMNS = 4, 12
_FLOOR = Cell("floor", "ground", "faint")
_CLIFF = Cell("cliff", "cliff", "danger")
_START = Cell("start", "start")
_GOAL = Cell("goal", "goal", "goal")
_CELLS = (
    *(((_FLOOR,) * COLUMNS),) * (ROWS - 1),
    (_START, *(_CLIFF,) * (COLUMNS - 2), _GOAL),
)
_DIRECTIONS: tuple[Direction, ...] = ("up", "right", "down", "left")
_LEGEND = (
    LegendEntry("agent", "you"),
    LegendEntry(_CLIFF, "cliff: back to start"),
    LegendEntry(_START, "start"),
    LegendEntry(_GOAL, "goal"),
)


def cliff_walking_scene(observation: Any, action: Any = None) -> GridScene | None:
    """The cliff. None when the observation is no place on it."""
    place = whole_number(observation, ROWS * COLUMNS)
    if place is None:
        return None
    heading = whole_number(action, len(_DIRECTIONS))
    return GridScene(
        rows=ROWS,
        columns=COLUMNS,
        cells=_CELLS,
        agent=Agent(
            place // COLUMNS,
            place % COLUMNS,
            None if heading is None else _DIRECTIONS[heading],
        ),
        legend=_LEGEND,
    )
