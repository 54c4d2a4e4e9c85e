"""TagEditor: a small sheet under the chosen runs in which tags are put on and taken off."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runs.view.sheet import Sheet
from gym_gui.runtime.models.run_text import run_count

_MOST_SEEN = 6
_State = Qt.CheckState


class TagEditor(Sheet):
    """`tags` are those of each run, `others` those of further runs, to choose from.

    Enter keeps the changes; Escape or a click elsewhere changes nothing. A box that is half checked
    stands for a tag that some of the runs have, and left alone it stays so.
    """

    chosen = Signal(object, object)
    """Tuples of the tags to put on, and of those to take off."""

    def __init__(
        self, tags: Sequence[Collection[str]], others: Collection[str], parent: QWidget
    ) -> None:
        super().__init__(parent)
        every = set.intersection(*map(set, tags)) if tags else set()
        some = set().union(*tags) - every
        line = self.fontMetrics().height()
        self.line = QLineEdit()
        self.line.setPlaceholderText("baseline, paper")
        label = QLabel(f"New tags for {run_count(len(tags))}, separated by commas")
        label.setProperty("role", "caption")
        label.setBuddy(self.line)
        self.boxes: dict[str, QCheckBox] = {}
        self._before: dict[str, _State] = {}
        for tag in (*sorted(every | some), *sorted(set(others) - every - some)):
            box = QCheckBox(tag)
            state = (
                _State.Checked
                if tag in every
                else _State.PartiallyChecked
                if tag in some
                else _State.Unchecked
            )
            box.setTristate(state is _State.PartiallyChecked)
            box.setCheckState(state)
            self.boxes[tag], self._before[tag] = box, state
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 2, line // 2, line // 2)
        layout.setSpacing(line // 3)
        layout.addWidget(label)
        layout.addWidget(self.line)
        if self.boxes:
            layout.addWidget(self._box_list(line))
        help_ = QLabel("Enter keeps it, Esc leaves it as it was.")
        help_.setProperty("role", "caption")
        layout.addWidget(help_)
        self.setMinimumWidth(line * 18)

    def show_beside(self, row: QRect) -> None:
        super().show_beside(row)
        self.line.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Also what a line or a box has no use for."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._keep()
        else:
            super().keyPressEvent(event)

    def _box_list(self, line: int) -> QWidget:
        inner = QWidget()
        inner.setAutoFillBackground(False)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(line // 4)
        for box in self.boxes.values():
            column.addWidget(box)
        if len(self.boxes) <= _MOST_SEEN:
            return inner
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(inner)
        row = inner.sizeHint().height() / len(self.boxes)
        area.setFixedHeight(round(row * (_MOST_SEEN + 0.5)))
        return area

    def _keep(self) -> None:
        new = (tag.strip() for tag in self.line.text().split(","))
        changed = {
            tag: box.checkState()
            for tag, box in self.boxes.items()
            if box.checkState() is not self._before[tag]
        }
        add = [tag for tag, state in changed.items() if state is _State.Checked]
        remove = [tag for tag, state in changed.items() if state is _State.Unchecked]
        added = tuple(dict.fromkeys((*add, *(tag for tag in new if tag))))
        if added or remove:
            self.chosen.emit(added, tuple(remove))
        self.close()
