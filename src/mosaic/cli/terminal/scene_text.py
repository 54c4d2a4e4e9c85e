"""A scene as terminal text: symbols and colours, cropped around the agent."""

import codecs
from typing import NamedTuple

from rich.text import Text

from mosaic.envs.scenes.scene import (
    Agent,
    ColourRole,
    Direction,
    GridCell,
    GridScene,
    LegendEntry,
    Marker,
    Scene,
    TextScene,
)

_STYLES: dict[ColourRole, str] = {
    "plain": "",
    "faint": "dim",
    "danger": "bold red",
    "goal": "bold green",
    "red": "red",
    "green": "green",
    "blue": "bright_blue",
    "purple": "magenta",
    "yellow": "yellow",
    "grey": "bright_black",
}
_AGENT_STYLE = "bold bright_white on blue"
_MARKER_STYLE = "bold bright_magenta"
_FILLED_KINDS = ("wall", "cliff", "lava", "unseen")
_CELL_WIDTHS = (3, 2, 1)
"""The widest that fits is used; three columns show markers beside the agent."""


class Symbols(NamedTuple):
    """Symbols of things in a scene, each one column wide."""

    kinds: dict[str, str]
    doors: dict[str, str]
    markers: dict[str, str]
    headings: dict[str | None, str]
    frame: str
    """Corners, edges, and walls between two cells: ┌ ─ ┐ │ └ ┘ ┃ ━."""
    arrows: dict[str, str]
    """Names of arrow keys, if the arrows cannot be displayed."""


UNICODE = Symbols(
    kinds={
        "floor": "·",
        "start": "S",
        "goal": "★",
        "hole": "○",
        "cliff": "▒",
        "wall": "█",
        "key": "k",
        "ball": "●",
        "box": "■",
        "lava": "≈",
        "unseen": "░",
    },
    doors={"open": "/", "closed": "+", "locked": "X"},
    markers={"passenger": "☺", "destination": "★"},
    headings={None: "@", "right": "►", "down": "▼", "left": "◄", "up": "▲"},
    frame="┌─┐│└┘┃━",
    arrows={},
)
ASCII = Symbols(
    kinds={
        "floor": ".",
        "start": "S",
        "goal": "G",
        "hole": "O",
        "cliff": "%",
        "wall": "#",
        "key": "k",
        "ball": "o",
        "box": "b",
        "lava": "~",
        "unseen": " ",
    },
    doors={"open": "/", "closed": "+", "locked": "X"},
    markers={"passenger": "p", "destination": "*"},
    headings={None: "@", "right": ">", "down": "v", "left": "<", "up": "^"},
    frame="+-+|++|=",
    arrows={"←": "left", "→": "right", "↑": "up", "↓": "down"},
)


def symbols_for(encoding: str | None) -> Symbols:
    """Return the symbols that a terminal with this encoding can display."""
    try:
        name = codecs.lookup(encoding or "ascii").name
    except LookupError:
        return ASCII
    return UNICODE if name.startswith("utf") else ASCII


def scene_lines(scene: Scene, width: int, height: int, symbols: Symbols) -> list[Text]:
    """Return the scene in at most `height` lines of at most `width` columns."""
    if isinstance(scene, TextScene):
        return _text_lines(scene, width)[: max(0, height)]
    return _GridRenderer(scene, width, height, symbols).lines()


def legend_lines(scene: Scene, symbols: Symbols) -> list[Text]:
    """Return the legend of the scene, one symbol per line."""
    if isinstance(scene, TextScene):
        return []
    heading = scene.agent.direction if scene.agent else None
    lines = [
        Text.assemble(_legend_symbol(entry, symbols, heading), f" {entry.text}")
        for entry in scene.legend
    ]
    carried = scene.agent.carrying if scene.agent else None
    if carried is not None:
        lines.append(Text.assemble("carrying ", (carried.label, _STYLES[carried.colour])))
    return lines


class _GridRenderer:
    """Renders the part of a grid that fits, line by line."""

    def __init__(self, scene: GridScene, width: int, height: int, symbols: Symbols) -> None:
        self._scene = scene
        self._symbols = symbols
        self._right = {(wall.row, wall.column) for wall in scene.walls if wall.side == "right"}
        self._below = {(wall.row, wall.column) for wall in scene.walls if wall.side == "below"}
        self._gap = 1 if self._right else 0
        self._line_gap = 1 if self._below else 0
        self._markers: dict[tuple[int, int], list[Marker]] = {}
        for marker in scene.markers:
            self._markers.setdefault((marker.row, marker.column), []).append(marker)
        self._cell_width = next(
            (
                cell_width
                for cell_width in _CELL_WIDTHS
                if self._grid_width(scene.columns, cell_width) <= width - 2
            ),
            1,
        )
        self._columns = self._visible_range(
            scene.columns, (width - 2 + self._gap) // (self._cell_width + self._gap), is_row=False
        )
        self._rows = self._visible_range(
            scene.rows, (height - 2 + self._line_gap) // (1 + self._line_gap), is_row=True
        )

    def lines(self) -> list[Text]:
        if not self._rows or not self._columns:
            return []
        inner_width = self._grid_width(len(self._columns), self._cell_width)
        frame = self._symbols.frame
        style = _STYLES["grey"]
        lines = [Text(frame[0] + frame[1] * inner_width + frame[2], style)]
        for row in self._rows:
            lines.append(Text.assemble((frame[3], style), self._line(row), (frame[3], style)))
            if self._line_gap and row != self._rows[-1]:
                below = self._walls_below(row)
                lines.append(Text.assemble((frame[3], style), below, (frame[3], style)))
        lines.append(Text(frame[4] + frame[1] * inner_width + frame[5], style))
        return lines

    def _grid_width(self, columns: int, cell_width: int) -> int:
        return columns * cell_width + (columns - 1) * self._gap

    def _visible_range(self, size: int, capacity: int, *, is_row: bool) -> range:
        """Return the rows or columns that fit, centred on the agent."""
        if capacity >= size:
            return range(size)
        agent = self._scene.agent
        middle = 0 if agent is None else agent.row if is_row else agent.column
        first = max(0, min(size - capacity, middle - capacity // 2))
        return range(first, first + max(0, capacity))

    def _line(self, row: int) -> Text:
        line = Text()
        for column in self._columns:
            line.append_text(self._cell(row, column))
            if self._gap and column != self._columns[-1]:
                wall = self._symbols.frame[6] if (row, column) in self._right else " "
                line.append(wall)
        return line

    def _walls_below(self, row: int) -> Text:
        wall = self._symbols.frame[7]
        parts = (
            (wall if (row, column) in self._below else " ") * self._cell_width
            for column in self._columns
        )
        return Text((" " * self._gap).join(parts))

    def _cell(self, row: int, column: int) -> Text:
        cell = self._scene.cells[row][column]
        agent = self._scene.agent
        has_agent = agent is not None and (agent.row, agent.column) == (row, column)
        markers = self._markers.get((row, column), [])
        symbol, style = _symbol(cell, self._symbols)
        if cell.kind in _FILLED_KINDS and not has_agent and not markers:
            return Text(symbol * self._cell_width, style)
        middle = Text(symbol, style)
        if agent is not None and has_agent:
            middle = self._agent(agent)
        if self._cell_width < 3:
            if markers and not has_agent:
                middle = self._marker(markers[0])
            middle.append(" " * (self._cell_width - 1))
            return middle
        before = [self._marker(marker) for marker in markers if marker.kind == "passenger"]
        after = [self._marker(marker) for marker in markers if marker.kind == "destination"]
        left, right = (before or [Text(" ")])[0], (after or [Text(" ")])[0]
        if agent is not None and has_agent and agent.passenger and not before:
            left = Text(self._symbols.markers["passenger"], _MARKER_STYLE)
        return Text.assemble(left, middle, right)

    def _agent(self, agent: Agent) -> Text:
        return Text(self._symbols.headings[agent.direction], _AGENT_STYLE)

    def _marker(self, marker: Marker) -> Text:
        return Text(self._symbols.markers[marker.kind], _MARKER_STYLE)


def _symbol(cell: GridCell, symbols: Symbols) -> tuple[str, str]:
    style = _STYLES[cell.colour]
    if cell.kind == "stand":
        return cell.label[:1] or "?", f"bold {style}"
    if cell.kind == "door":
        return symbols.doors[cell.state or "closed"], f"bold {style}"
    return symbols.kinds[cell.kind], style


def _legend_symbol(
    entry: LegendEntry, symbols: Symbols, heading: Direction | None
) -> tuple[str, str]:
    if isinstance(entry.sample, GridCell):
        return _symbol(entry.sample, symbols)
    if entry.sample == "agent":
        return symbols.headings[heading], _AGENT_STYLE
    return symbols.markers[entry.sample], _MARKER_STYLE


def _text_lines(scene: TextScene, width: int) -> list[Text]:
    title_width = max(len(line.title) for line in scene.lines)
    lines = [Text(scene.title, "bold"), Text()]
    for line in scene.lines:
        cards = Text(" ").join(Text(f" {value} ", "reverse") for value in line.values)
        lines.append(Text.assemble(line.title.ljust(title_width), "  ", cards))
        if line.note:
            gap = "  " if line.values else ""
            lines[-1].append(f"{gap}{line.note}", "bold")
        lines.append(Text())
    for text in lines:
        text.truncate(max(0, width), overflow="crop")
    return lines[:-1]
