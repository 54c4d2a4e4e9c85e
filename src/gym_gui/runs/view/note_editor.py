"""NoteEditor: a small sheet under a run in which its note is written."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from gym_gui.runs.view.sheet import Sheet

_LINES = 6


class NoteEditor(Sheet):
    """Goes away by itself; a click elsewhere or Ctrl+Enter keeps the note, Escape does not."""

    written = Signal(str)

    def __init__(self, note: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._before = note
        self._is_dropped = False
        self.text = QPlainTextEdit(note)
        self.text.setPlaceholderText("What was tried, what came of it")
        self.text.setTabChangesFocus(True)
        line = self.fontMetrics().height()
        self.text.setFixedHeight(line * (_LINES + 1))
        label = QLabel("Note")
        label.setProperty("role", "caption")
        label.setBuddy(self.text)
        help_ = QLabel("Ctrl+Enter keeps it, Esc leaves it as it was.")
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
        """Those that the text has no use for: Escape, and Enter with Ctrl."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape:
            self._is_dropped = True
            self.close()
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.close()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """However it goes, except by Escape: what was written is kept."""
        note = self.text.toPlainText().strip()
        if not self._is_dropped and note != self._before.strip():
            self._before = note
            self.written.emit(note)
        super().hideEvent(event)
