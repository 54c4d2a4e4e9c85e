"""Keyboard: every command that has a shortcut, as the window knows them."""

from collections.abc import Iterator, Sequence
from itertools import islice

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.view.section_frame import SectionFrame
from gym_gui.widgets.key_cap import KeyCap

_AT_ONCE = 8


class ShortcutsSection(SectionFrame):
    """`shortcuts` are the texts of commands and their keys, such as `Ctrl+Shift+P`."""

    def __init__(
        self,
        shortcuts: Sequence[tuple[str, str]],
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Keyboard", parent=parent)
        line = self.fontMetrics().height()
        grid = QGridLayout()
        grid.setHorizontalSpacing(line)
        grid.setVerticalSpacing(line // 3)
        grid.setColumnStretch(2, 1)
        self.add(grid)
        # A few per turn, from the next one on: with the rest of the page at once it would be felt.
        waiting = iter(tuple(enumerate(shortcuts)))
        QTimer.singleShot(0, self, lambda: self._add_some(grid, waiting, theme))

    def _add_some(
        self, grid: QGridLayout, waiting: Iterator[tuple[int, tuple[str, str]]], theme: ThemeModel
    ) -> None:
        some = list(islice(waiting, _AT_ONCE))
        for at, (text, keys) in some:
            label = QLabel(text)
            label.setMinimumWidth(label.fontMetrics().height() * 13)
            grid.addWidget(label, at, 0)
            grid.addWidget(_caps(keys, theme), at, 1, Qt.AlignmentFlag.AlignLeft)
        if some:
            QTimer.singleShot(0, self, lambda: self._add_some(grid, waiting, theme))


def _caps(keys: str, theme: ThemeModel) -> QWidget:
    place = QWidget()
    place.setAccessibleName(keys)
    layout = QHBoxLayout(place)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(place.fontMetrics().height() // 4)
    # A `+` that is itself a key stands at the end.
    names = keys.removesuffix("+").split("+") if keys.endswith("++") else keys.split("+")
    for name in (each or "+" for each in names):
        layout.addWidget(KeyCap(name, theme))
    return place
