"""FieldGrid: rows of names and values. Values can be selected and copied."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from gym_gui.run_page.model.run_summary import SummaryField
from gym_gui.widgets.labels import ElidedLabel


class FieldGrid(QWidget):
    """Shows `SummaryField` rows. Labels are reused."""

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

    def show_fields(self, fields: Sequence[SummaryField]) -> None:
        while len(self._rows) < len(fields):
            self._add_row()
        for at, (name, value) in enumerate(self._rows):
            is_used = at < len(fields)
            if is_used:
                field = fields[at]
                if name.text() != field.name:
                    name.setText(field.name)
                value.show_text(field.value)
                value.setToolTip(field.tip or field.value)
                value.setAccessibleName(f"{field.name} {field.value}")
            name.setVisible(is_used)
            value.setVisible(is_used)

    def text_of(self, name: str) -> str:
        """The value of that name; empty if there is none."""
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
