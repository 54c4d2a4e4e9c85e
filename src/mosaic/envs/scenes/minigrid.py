"""MiniGrid and BabyAI: the whole grid when the step has it, else what the agent itself sees.

Objects, colours and states are numbers in the order of the constants below, as MiniGrid's own
encoding has them; a grid is indexed by column first, then by row.
"""

from collections.abc import Iterator
from typing import Any, Literal, cast

from mosaic.envs.scenes.plain_values import whole_number, whole_numbers
from mosaic.envs.scenes.scene import (
    MOST_SIDE,
    Agent,
    Cell,
    CellKind,
    ColourRole,
    Direction,
    GridScene,
    LegendEntry,
)

_OBJECTS: tuple[CellKind, ...] = (
    "unseen",
    "floor",
    "wall",
    "floor",
    "door",
    "key",
    "ball",
    "box",
    "goal",
    "lava",
    "floor",
)
"""Number 1 is the empty cell, 3 a coloured floor, 10 the agent itself."""
_COLOURS: tuple[ColourRole, ...] = ("red", "green", "blue", "purple", "yellow", "grey")
_DOOR_STATES: tuple[Literal["open", "closed", "locked"], ...] = ("open", "closed", "locked")
_DIRECTIONS: tuple[Direction, ...] = ("right", "down", "left", "up")
_COLOURED = ("door", "key", "ball", "box")
_EMPTY, _COLOURED_FLOOR = 1, 3
_LONGEST_MISSION = 400
_MOST_CODE = 256


def minigrid_scene(observation: Any, render: Any = None) -> GridScene | None:
    """The grid. None when neither step nor observation has one."""
    if render is not None:
        return _whole_grid(observation, render)
    return _own_view(observation)


def _whole_grid(observation: Any, render: Any) -> GridScene | None:
    if not isinstance(render, dict):
        return None
    cells = _cells(render.get("grid"))
    place = whole_numbers(render.get("agent"), MOST_SIDE)
    heading = whole_number(render.get("dir"), len(_DIRECTIONS))
    if cells is None or place is None or len(place) != 2 or heading is None:
        return None
    column, row = place
    if row >= len(cells) or column >= len(cells[0]):
        return None
    carried = render.get("carrying")
    carrying = None if carried is None else _cell(carried)
    if carried is not None and carrying is None:
        return None
    return _scene(
        cells,
        Agent(row, column, _DIRECTIONS[heading], carrying),
        _mission(render) or _mission(observation),
    )


def _own_view(observation: Any) -> GridScene | None:
    """The agent stands in the middle of the bottom row and looks up; it holds what lies there."""
    if not isinstance(observation, dict):
        return None
    cells = _cells(observation.get("image"))
    if cells is None:
        return None
    row, column = len(cells) - 1, len(cells[0]) // 2
    held = cells[row][column]
    seen = [list(line) for line in cells]
    seen[row][column] = Cell("floor", "", "faint")
    mission = _mission(observation)
    return _scene(
        tuple(tuple(line) for line in seen),
        Agent(row, column, "up", held if held.kind in ("key", "ball", "box") else None),
        f"{mission} (what the agent sees)".strip(),
    )


def _scene(cells: tuple[tuple[Cell, ...], ...], agent: Agent, mission: str) -> GridScene:
    return GridScene(
        rows=len(cells),
        columns=len(cells[0]),
        cells=cells,
        agent=agent,
        legend=tuple(_legend(cells)),
        caption=mission,
    )


def _legend(cells: tuple[tuple[Cell, ...], ...]) -> Iterator[LegendEntry]:
    """You, and each kind of thing that is there once; walls and floors speak for themselves."""
    yield LegendEntry("agent", "you")
    seen: set[tuple[str, str]] = set()
    for cell in (cell for line in cells for cell in line):
        if cell.kind in ("floor", "wall", "unseen") or (cell.kind, cell.state) in seen:
            continue
        seen.add((cell.kind, cell.state))
        yield LegendEntry(cell, f"{cell.state} {cell.kind}".strip())


def _cells(grid: Any) -> tuple[tuple[Cell, ...], ...] | None:
    """Rows of cells from columns of numbers."""
    if not isinstance(grid, list | tuple) or not 1 <= len(grid) <= MOST_SIDE:
        return None
    columns = []
    for numbers in grid:
        if not isinstance(numbers, list | tuple) or not 1 <= len(numbers) <= MOST_SIDE:
            return None
        column = [_cell(item) for item in numbers]
        if None in column or len(column) != len(grid[0]):
            return None
        columns.append(cast("list[Cell]", column))
    return tuple(zip(*columns, strict=True))


def _cell(item: Any) -> Cell | None:
    numbers = whole_numbers(item, _MOST_CODE)
    if numbers is None or len(numbers) != 3:
        return None
    thing, colour, state = numbers
    if thing >= len(_OBJECTS) or colour >= len(_COLOURS):
        return None
    kind = _OBJECTS[thing]
    name = _COLOURS[colour]
    if kind in _COLOURED:
        if kind != "door":
            return Cell(kind, f"{name} {kind}", name)
        if state >= len(_DOOR_STATES):
            return None
        return Cell(kind, f"{_DOOR_STATES[state]} {name} door", name, _DOOR_STATES[state])
    if kind == "floor":
        return Cell(kind, "", name if thing == _COLOURED_FLOOR else "faint")
    if kind == "goal":
        return Cell(kind, "goal", "goal")
    if kind == "lava":
        return Cell(kind, "lava", "danger")
    return Cell(kind, kind, "grey" if kind == "wall" else "faint")


def _mission(told: Any) -> str:
    mission = told.get("mission") if isinstance(told, dict) else None
    return mission[:_LONGEST_MISSION] if isinstance(mission, str) else ""
