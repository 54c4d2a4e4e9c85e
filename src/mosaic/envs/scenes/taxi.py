"""Taxi: a town of five by five with four stands; the observation is one number for all of it."""

from typing import Any

from mosaic.envs.scenes.plain_values import whole_number
from mosaic.envs.scenes.scene import (
    Agent,
    Cell,
    ColourRole,
    Direction,
    GridScene,
    LegendEntry,
    Marker,
    Wall,
)

ROWS = COLUMNS = 5
STANDS = ((0, 0), (0, 4), (4, 0), (4, 3))
IN_TAXI = len(STANDS)
_NAMES = ("red", "green", "yellow", "blue")
_LETTERS: tuple[tuple[str, ColourRole], ...] = (
    ("R", "red"),
    ("G", "green"),
    ("Y", "yellow"),
    ("B", "blue"),
)
_STATES = ROWS * COLUMNS * (len(STANDS) + 1) * len(STANDS)
_FLOOR = Cell("floor", "street", "faint")
_WALLS = frozenset(
    Wall(row, column, "right") for row, column in ((0, 1), (1, 1), (3, 0), (4, 0), (3, 2), (4, 2))
)
_DIRECTIONS: tuple[Direction, ...] = ("down", "up", "right", "left")
_LEGEND = (
    LegendEntry("agent", "your taxi"),
    LegendEntry("passenger", "passenger waits"),
    LegendEntry("destination", "wants to go there"),
)


def _town() -> tuple[tuple[Cell, ...], ...]:
    stands = {
        place: Cell("stand", letter, colour)
        for place, (letter, colour) in zip(STANDS, _LETTERS, strict=True)
    }
    return tuple(
        tuple(stands.get((row, column), _FLOOR) for column in range(COLUMNS)) for row in range(ROWS)
    )


_CELLS = _town()


def taxi_scene(observation: Any, action: Any = None) -> GridScene | None:
    """The town. None when the observation is none of its states."""
    state = whole_number(observation, _STATES)
    if state is None:
        return None
    state, destination = divmod(state, len(STANDS))
    state, passenger = divmod(state, len(STANDS) + 1)
    row, column = divmod(state, COLUMNS)
    heading = whole_number(action, len(_DIRECTIONS))
    rides = passenger == IN_TAXI
    markers = [Marker("destination", *STANDS[destination], _NAMES[destination])]
    if not rides:
        markers.append(Marker("passenger", *STANDS[passenger], _NAMES[passenger]))
    whereabouts = "in the taxi" if rides else f"at {_NAMES[passenger]}"
    return GridScene(
        rows=ROWS,
        columns=COLUMNS,
        cells=_CELLS,
        walls=_WALLS,
        agent=Agent(
            row,
            column,
            None if heading is None else _DIRECTIONS[heading],
            passenger=rides,
        ),
        markers=tuple(markers),
        legend=_LEGEND,
        caption=f"The passenger is {whereabouts} and wants to go to {_NAMES[destination]}.",
    )
