"""HistoryView: through which states a run came, when, for how long and why."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gym_gui.run_page.model.run_summary import PastState
from gym_gui.widgets.elided_label import ElidedLabel

_COLUMNS = 4


class HistoryView(QWidget):
    """A run has few states; labels are enough."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(line)
        self._grid.setVerticalSpacing(line // 4)
        self._grid.setColumnStretch(_COLUMNS - 1, 1)
        self._rows: list[tuple[QLabel, ...]] = []
        self._states: list[PastState] = []

    def show_states(self, states: Sequence[PastState]) -> None:
        if list(states) == self._states:
            return
        self._states = list(states)
        while len(self._rows) < len(states):
            self._add_row()
        for at, labels in enumerate(self._rows):
            for label in labels:
                label.setVisible(at < len(states))
            if at < len(states):
                state = states[at]
                texts = (state.when, state.word, state.lasted, state.reason)
                for label, text in zip(labels, texts, strict=True):
                    label.setText(text)
                labels[-1].setToolTip(state.reason)

    def _add_row(self) -> None:
        labels = (QLabel(), QLabel(), QLabel(), ElidedLabel("muted"))
        labels[0].setProperty("role", "muted")
        labels[2].setProperty("role", "muted")
        labels[2].setAlignment(Qt.AlignmentFlag.AlignRight)
        labels[2].setToolTip("So long it lasted")
        for column, label in enumerate(labels):
            self._grid.addWidget(label, len(self._rows), column)
        self._rows.append(labels)
