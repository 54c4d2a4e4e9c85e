"""FactGrid: names at the left, values at the right, as many as there are. Values can be copied."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from gym_gui.run_page.model.run_summary import Fact
from gym_gui.widgets.elided_label import ElidedLabel


class FactGrid(QWidget):
    """Labels are kept: what stays the same is not laid out again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(line)
        self._grid.setVerticalSpacing(line // 3)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, ElidedLabel]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_facts(self, facts: Sequence[Fact]) -> None:
        while len(self._rows) < len(facts):
            self._add_row()
        for at, (name, value) in enumerate(self._rows):
            is_used = at < len(facts)
            if is_used:
                fact = facts[at]
                if name.text() != fact.name:
                    name.setText(fact.name)
                value.say(fact.value)
                value.setToolTip(fact.tip or fact.value)
                value.setAccessibleName(f"{fact.name} {fact.value}")
            name.setVisible(is_used)
            value.setVisible(is_used)

    def text_of(self, name: str) -> str:
        """The value of that name; empty when it is not there."""
        return next((value.text() for label, value in self._rows if label.text() == name), "")

    def _add_row(self) -> None:
        name = QLabel()
        name.setProperty("role", "muted")
        value = ElidedLabel("value")
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))
