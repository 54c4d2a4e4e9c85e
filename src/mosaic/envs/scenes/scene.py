"""Scenes: the state of a grid or text environment, independent of how it is rendered.

Terminal and window render the same scenes. `factory.scene_for` creates them from steps.
"""

from typing import Any, Literal, TypeAlias

import msgspec

CellKind = Literal[
    "floor",
    "start",
    "goal",
    "hole",
    "cliff",
    "stand",
    "wall",
    "door",
    "key",
    "ball",
    "box",
    "lava",
    "unseen",
]
MarkerKind = Literal["passenger", "destination"]
ColourRole = Literal[
    "plain", "faint", "danger", "goal", "red", "green", "blue", "purple", "yellow", "grey"
]
"""A theme maps these to colours. Every meaning of a colour is also in a label."""
Direction = Literal["right", "down", "left", "up"]
Side = Literal["right", "below"]

MAX_SIDE = 256
"""Maximum number of rows and of columns."""


class GridCell(msgspec.Struct, frozen=True):
    """One cell of a grid. `label` describes its content, or is the letter of a taxi stand."""

    kind: CellKind = "floor"
    label: str = ""
    colour: ColourRole = "plain"
    state: Literal["", "open", "closed", "locked"] = ""
    """The state of a door."""


class Wall(msgspec.Struct, frozen=True):
    """A wall between a cell and its neighbour to the right or below."""

    row: int
    column: int
    side: Side


class Marker(msgspec.Struct, frozen=True):
    """A mark on top of a cell."""

    kind: MarkerKind
    row: int
    column: int
    label: str


class Agent(msgspec.Struct, frozen=True):
    """The agent. `direction` is None when it is unknown."""

    row: int
    column: int
    direction: Direction | None = None
    carrying: GridCell | None = None
    passenger: bool = False
    """Whether a passenger is in the taxi."""


class LegendEntry(msgspec.Struct, frozen=True):
    """A symbol and its meaning."""

    sample: GridCell | MarkerKind | Literal["agent"]
    text: str


class GridScene(msgspec.Struct, frozen=True, kw_only=True):
    """A grid of cells, row by row from the top left, with agent and markers."""

    rows: int
    columns: int
    cells: tuple[tuple[GridCell, ...], ...]
    walls: frozenset[Wall] = frozenset()
    agent: Agent | None = None
    markers: tuple[Marker, ...] = ()
    legend: tuple[LegendEntry, ...] = ()
    caption: str = ""


class TextLine(msgspec.Struct, frozen=True):
    """A titled line of values, such as the cards of a hand, with a note such as their sum."""

    title: str
    values: tuple[str, ...]
    note: str = ""


class TextScene(msgspec.Struct, frozen=True, kw_only=True):
    """A scene of text lines."""

    title: str
    lines: tuple[TextLine, ...]
    caption: str = ""


Scene: TypeAlias = GridScene | TextScene


def parse_int(value: Any, below: int, *, minimum: int = 0) -> int | None:
    """Return an untrusted `value` if it is an integer from `minimum` to `below` - 1, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if minimum <= value < below else None


def parse_ints(value: Any, below: int, *, minimum: int = 0) -> tuple[int, ...] | None:
    """Return an untrusted `value` if it is a list of such integers, else None."""
    if not isinstance(value, list | tuple):
        return None
    numbers = [parse_int(item, below, minimum=minimum) for item in value]
    return None if None in numbers else tuple(number for number in numbers if number is not None)
