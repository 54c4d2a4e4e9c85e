"""ThemeModel: the colours of the window, and the selected theme.

Views paint with `theme.colours` and repaint on `changed`; `app/theme.py` creates palette and style
sheet from them. No other module defines a colour.
"""

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

ThemeChoice = Literal["system", "light", "dark"]


@dataclass(frozen=True, slots=True)
class Colours:
    """`#rrggbb`, or `#aarrggbb` for translucent colours."""

    is_dark: bool
    window: str
    """Background of the window."""
    surface: str
    """Docks and bars."""
    raised: str
    """Cards, inputs, buttons."""
    canvas: str
    """Behind frames and grids."""
    line: str
    """Borders and separators."""
    text: str
    muted: str
    """Captions, units and secondary text."""
    disabled: str
    accent: str
    """Selected and primary elements."""
    on_accent: str
    selection: str
    good: str
    warning: str
    bad: str
    person: str
    """A human acts: orange."""
    agent: str
    """An agent acts: blue."""
    cell: str
    cell_heat: str
    """The most visited or most valuable cell."""
    cell_hole: str
    cell_goal: str
    cell_wall: str
    on_cell: str


LIGHT = Colours(
    is_dark=False,
    window="#f2f3f5",
    surface="#ffffff",
    raised="#eff1f4",
    canvas="#e6e8ec",
    line="#d8dbe1",
    text="#1b1f27",
    muted="#5b6372",
    disabled="#a3a9b5",
    accent="#0072b2",
    on_accent="#ffffff",
    selection="#dcebf7",
    good="#0a7d55",
    warning="#9a6200",
    bad="#c0391f",
    person="#b26b00",
    agent="#0072b2",
    cell="#eaf2f8",
    cell_heat="#7db9dd",
    cell_hole="#2a2f38",
    cell_goal="#0f8b60",
    cell_wall="#7d8592",
    on_cell="#2b3a4a",
)

DARK = Colours(
    is_dark=True,
    window="#16181d",
    surface="#1d2026",
    raised="#262a32",
    canvas="#121418",
    line="#323742",
    text="#e6e8ec",
    muted="#9aa2b1",
    disabled="#5d6472",
    accent="#56b4e9",
    on_accent="#0b1a24",
    selection="#2c3b4d",
    good="#2fc493",
    warning="#e69f00",
    bad="#f0694b",
    person="#e69f00",
    agent="#56b4e9",
    cell="#c6dceb",
    cell_heat="#5aa5d3",
    cell_hole="#14171c",
    cell_goal="#0e8f66",
    cell_wall="#3b414d",
    on_cell="#1d3346",
)

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#999999")
"""The Okabe-Ito palette, which is safe for colour blindness."""


class ThemeModel(QObject):
    """Created once, by the wiring."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice: ThemeChoice = "system"
        self.colours = LIGHT
        self._system_is_dark = False

    def choose(self, choice: ThemeChoice) -> None:
        self.choice = choice
        self._update()

    def set_system_is_dark(self, is_dark: bool) -> None:
        """Set the theme of the desktop, which is used while the choice is `system`."""
        self._system_is_dark = is_dark
        self._update()

    def _update(self) -> None:
        is_dark = self._system_is_dark if self.choice == "system" else self.choice == "dark"
        colours = DARK if is_dark else LIGHT
        if colours is not self.colours:
            self.colours = colours
            self.changed.emit()
