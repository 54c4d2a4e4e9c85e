"""Popups beside a row of the list of runs: `NoteEditor` and `TagEditor`."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.run_text import run_count

_VISIBLE_LINES = 6
_MAX_VISIBLE_TAGS = 6
_State = Qt.CheckState


class _RowPopup(QFrame):
    """A popup beside a row; a click elsewhere closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "card")

    def show_beside(self, row: QRect) -> None:
        """Show below `row`, in screen coordinates, or above it if there is no space below."""
        self.adjustSize()
        screen = self.screen().availableGeometry()
        top = row.bottom() + 1
        if top + self.height() > screen.bottom():
            top = max(screen.top(), row.top() - self.height())
        left = min(row.left(), screen.right() - self.width())
        self.move(max(screen.left(), left), top)
        self.show()


class NoteEditor(_RowPopup):
    """Ctrl+Enter or a click elsewhere saves the note; Escape discards the changes."""

    saved = Signal(str)

    def __init__(self, note: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._before = note
        self._is_discarded = False
        self.text = QPlainTextEdit(note)
        self.text.setPlaceholderText("Changes and results of this run")
        self.text.setTabChangesFocus(True)
        line = self.fontMetrics().height()
        self.text.setFixedHeight(line * (_VISIBLE_LINES + 1))
        label = QLabel("Note")
        label.setProperty("role", "caption")
        label.setBuddy(self.text)
        help_ = QLabel("Ctrl+Enter saves, Esc cancels.")
        help_.setProperty("role", "caption")
        edge = line // 2
        layout = QVBoxLayout(self)
        layout.setContentsMargins(edge, edge, edge, edge)
        layout.setSpacing(line // 4)
        layout.addWidget(label)
        layout.addWidget(self.text)
        layout.addWidget(help_)
        self.setMinimumWidth(line * 22)

    def show_beside(self, row: QRect) -> None:
        super().show_beside(row)
        self.text.setFocus()
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Handle the keys that the text field ignores: Escape and Ctrl+Enter."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape:
            self._is_discarded = True
            self.close()
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.close()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Save the note, unless Escape closed the popup."""
        note = self.text.toPlainText().strip()
        if not self._is_discarded and note != self._before.strip():
            self._before = note
            self.saved.emit(note)
        super().hideEvent(event)


class TagEditor(_RowPopup):
    """`tags` has the tags of each run; `others` are suggestions from other runs.

    Enter saves the changes; Escape or a click elsewhere discards them. A partially checked box is a
    tag of some of the runs, which is unchanged unless the box is clicked.
    """

    saved = Signal(object, object)
    """Tuples of the tags to add and to remove."""

    def __init__(
        self, tags: Sequence[Collection[str]], others: Collection[str], parent: QWidget
    ) -> None:
        super().__init__(parent)
        common = set.intersection(*map(set, tags)) if tags else set()
        partial = set().union(*tags) - common
        line = self.fontMetrics().height()
        self.new_tags = QLineEdit()
        self.new_tags.setPlaceholderText("baseline, paper")
        label = QLabel(f"New tags for {run_count(len(tags))}, separated by commas")
        label.setProperty("role", "caption")
        label.setBuddy(self.new_tags)
        self.boxes: dict[str, QCheckBox] = {}
        self._before: dict[str, _State] = {}
        for tag in (*sorted(common | partial), *sorted(set(others) - common - partial)):
            box = QCheckBox(tag)
            state = (
                _State.Checked
                if tag in common
                else _State.PartiallyChecked
                if tag in partial
                else _State.Unchecked
            )
            box.setTristate(state is _State.PartiallyChecked)
            box.setCheckState(state)
            self.boxes[tag], self._before[tag] = box, state
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 2, line // 2, line // 2)
        layout.setSpacing(line // 3)
        layout.addWidget(label)
        layout.addWidget(self.new_tags)
        if self.boxes:
            layout.addWidget(self._box_list(line))
        help_ = QLabel("Enter saves, Esc cancels.")
        help_.setProperty("role", "caption")
        layout.addWidget(help_)
        self.setMinimumWidth(line * 18)

    def show_beside(self, row: QRect) -> None:
        super().show_beside(row)
        self.new_tags.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Handle Enter in the line and in every box."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._save()
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
        if len(self.boxes) <= _MAX_VISIBLE_TAGS:
            return inner
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(inner)
        row = inner.sizeHint().height() / len(self.boxes)
        area.setFixedHeight(round(row * (_MAX_VISIBLE_TAGS + 0.5)))
        return area

    def _save(self) -> None:
        new = (tag.strip() for tag in self.new_tags.text().split(","))
        changed = {
            tag: box.checkState()
            for tag, box in self.boxes.items()
            if box.checkState() is not self._before[tag]
        }
        add = [tag for tag, state in changed.items() if state is _State.Checked]
        remove = [tag for tag, state in changed.items() if state is _State.Unchecked]
        added = tuple(dict.fromkeys((*add, *(tag for tag in new if tag))))
        if added or remove:
            self.saved.emit(added, tuple(remove))
        self.close()
