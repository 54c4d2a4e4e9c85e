"""Scenes of MiniGrid and BabyAI: the full grid if the step has it, else the agent's view.

Objects, colours and states are indices into the constants below, as in MiniGrid's encoding; a grid
is indexed by column first, then by row.
"""

from collections.abc import Iterator
from typing import Any, Literal, cast

from mosaic.envs.scenes.scene import (
    MAX_SIDE,
    Agent,
    CellKind,
    ColourRole,
    Direction,
    GridCell,
    GridScene,
    LegendEntry,
    parse_int,
    parse_ints,
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
"""Index 1 is an empty cell, 3 a coloured floor, 10 the agent."""
_COLOURS: tuple[ColourRole, ...] = ("red", "green", "blue", "purple", "yellow", "grey")
_DOOR_STATES: tuple[Literal["open", "closed", "locked"], ...] = ("open", "closed", "locked")
_DIRECTIONS: tuple[Direction, ...] = ("right", "down", "left", "up")
_COLOURED = ("door", "key", "ball", "box")
_EMPTY, _COLOURED_FLOOR = 1, 3
_MAX_MISSION_LENGTH = 400
_MAX_CODE = 256


def minigrid_scene(observation: Any, render: Any = None) -> GridScene | None:
    """Return the grid; None if `render`, or else `observation`, has no valid one."""
    if render is not None:
        return _full_grid(observation, render)
    return _agent_view(observation)


def _full_grid(observation: Any, render: Any) -> GridScene | None:
    if not isinstance(render, dict):
        return None
    cells = _cells(render.get("grid"))
    position = parse_ints(render.get("agent"), MAX_SIDE)
    direction = parse_int(render.get("dir"), len(_DIRECTIONS))
    if cells is None or position is None or len(position) != 2 or direction is None:
        return None
    column, row = position
    if row >= len(cells) or column >= len(cells[0]):
        return None
    carried = render.get("carrying")
    carrying = None if carried is None else _cell(carried)
    if carried is not None and carrying is None:
        return None
    return _scene(
        cells,
        Agent(row, column, _DIRECTIONS[direction], carrying),
        _mission(render) or _mission(observation),
    )


def _agent_view(observation: Any) -> GridScene | None:
    """Return the agent's view: it is in the middle of the bottom row and carries that cell."""
    if not isinstance(observation, dict):
        return None
    cells = _cells(observation.get("image"))
    if cells is None:
        return None
    row, column = len(cells) - 1, len(cells[0]) // 2
    held = cells[row][column]
    seen = [list(line) for line in cells]
    seen[row][column] = GridCell("floor", "", "faint")
    mission = _mission(observation)
    return _scene(
        tuple(tuple(line) for line in seen),
        Agent(row, column, "up", held if held.kind in ("key", "ball", "box") else None),
        f"{mission} (agent's view)".strip(),
    )


def _scene(cells: tuple[tuple[GridCell, ...], ...], agent: Agent, mission: str) -> GridScene:
    return GridScene(
        rows=len(cells),
        columns=len(cells[0]),
        cells=cells,
        agent=agent,
        legend=tuple(_legend(cells)),
        caption=mission,
    )


def _legend(cells: tuple[tuple[GridCell, ...], ...]) -> Iterator[LegendEntry]:
    """Yield the agent and each kind of object once; walls and floors need no entry."""
    yield LegendEntry("agent", "you")
    seen: set[tuple[str, str]] = set()
    for cell in (cell for line in cells for cell in line):
        if cell.kind in ("floor", "wall", "unseen") or (cell.kind, cell.state) in seen:
            continue
        seen.add((cell.kind, cell.state))
        yield LegendEntry(cell, f"{cell.state} {cell.kind}".strip())


def _cells(grid: Any) -> tuple[tuple[GridCell, ...], ...] | None:
    """Convert columns of encoded cells to rows of cells."""
    if not isinstance(grid, list | tuple) or not 1 <= len(grid) <= MAX_SIDE:
        return None
    columns = []
    for numbers in grid:
        if not isinstance(numbers, list | tuple) or not 1 <= len(numbers) <= MAX_SIDE:
            return None
        column = [_cell(item) for item in numbers]
        if None in column or len(column) != len(grid[0]):
            return None
        columns.append(cast("list[GridCell]", column))
    return tuple(zip(*columns, strict=True))


def _cell(item: Any) -> GridCell | None:
    numbers = parse_ints(item, _MAX_CODE)
    if numbers is None or len(numbers) != 3:
        return None
    object_index, colour, state = numbers
    if object_index >= len(_OBJECTS) or colour >= len(_COLOURS):
        return None
    kind = _OBJECTS[object_index]
    name = _COLOURS[colour]
    if kind in _COLOURED:
        if kind != "door":
            return GridCell(kind, f"{name} {kind}", name)
        if state >= len(_DOOR_STATES):
            return None
        return GridCell(kind, f"{_DOOR_STATES[state]} {name} door", name, _DOOR_STATES[state])
    if kind == "floor":
        return GridCell(kind, "", name if object_index == _COLOURED_FLOOR else "faint")
    if kind == "goal":
        return GridCell(kind, "goal", "goal")
    if kind == "lava":
        return GridCell(kind, "lava", "danger")
    return GridCell(kind, kind, "grey" if kind == "wall" else "faint")


def _mission(value: Any) -> str:
    mission = value.get("mission") if isinstance(value, dict) else None
    return mission[:_MAX_MISSION_LENGTH] if isinstance(mission, str) else ""
