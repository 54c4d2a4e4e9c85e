"""Scenes: what there is to draw, without saying how. A terminal and a window draw the same ones.

One module per environment beside this one makes them; `scenes.scene_for` chooses which.
"""

from typing import Literal, TypeAlias

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
"""A theme turns these into colours; what a colour says always stands in a label too."""
Direction = Literal["right", "down", "left", "up"]
Side = Literal["right", "below"]

MOST_SIDE = 256
"""Cells in a row or a column; a larger grid is no grid that anybody could look at."""


class Cell(msgspec.Struct, frozen=True):
    """One place of a grid. `label` says what is there in words or is its own letter (stands)."""

    kind: CellKind = "floor"
    label: str = ""
    colour: ColourRole = "plain"
    state: Literal["", "open", "closed", "locked"] = ""
    """Of a door."""


class Wall(msgspec.Struct, frozen=True):
    """A wall between a cell and its neighbour to the right or below."""

    row: int
    column: int
    side: Side


class Marker(msgspec.Struct, frozen=True):
    """Something that lies on a cell without hiding it."""

    kind: MarkerKind
    row: int
    column: int
    label: str


class Agent(msgspec.Struct, frozen=True):
    """Who moves. `direction` is None where it faces nowhere yet."""

    row: int
    column: int
    direction: Direction | None = None
    carrying: Cell | None = None
    passenger: bool = False
    """Whether somebody rides along."""


class LegendEntry(msgspec.Struct, frozen=True):
    """What is drawn, and what it means."""

    sample: Cell | MarkerKind | Literal["agent"]
    text: str


class GridScene(msgspec.Struct, frozen=True, kw_only=True):
    """Cells in rows from the top, each row from the left, and what is on them."""

    rows: int
    columns: int
    cells: tuple[tuple[Cell, ...], ...]
    walls: frozenset[Wall] = frozenset()
    agent: Agent | None = None
    markers: tuple[Marker, ...] = ()
    legend: tuple[LegendEntry, ...] = ()
    caption: str = ""


class TextLine(msgspec.Struct, frozen=True):
    """One titled line of values, such as the cards of a hand, and what they come to."""

    title: str
    values: tuple[str, ...]
    note: str = ""


class TextScene(msgspec.Struct, frozen=True, kw_only=True):
    """What is told rather than drawn."""

    title: str
    lines: tuple[TextLine, ...]
    caption: str = ""


Scene: TypeAlias = GridScene | TextScene
