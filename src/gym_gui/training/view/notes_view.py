"""NotesView: what dry runs said and where drafts came from, in full, the newest first."""

import time

from PySide6.QtCore import QSize
from PySide6.QtGui import QFontDatabase, QGuiApplication, QTextOption
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.training.model.training_notes import Note, TrainingNotes

_LINES = 12


class NotesView(QWidget):
    """Text in letters of one width; in a narrow dock lines are broken rather than cut off."""

    def __init__(self, model: TrainingNotes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._verdict = QLabel()
        self._verdict.setWordWrap(True)
        self.text = _Pane()
        self._copy = QPushButton("Copy")
        self._clear = QPushButton("Clear")
        em = self.fontMetrics().height()
        buttons = QHBoxLayout()
        buttons.addWidget(self._copy)
        buttons.addWidget(self._clear)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(self._verdict)
        layout.addWidget(self.text)
        layout.addLayout(buttons)
        self._copy.clicked.connect(
            lambda: QGuiApplication.clipboard().setText(self.text.toPlainText())
        )
        self._clear.clicked.connect(model.clear)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        notes = self._model.notes
        if not notes:
            return
        newest = notes[0]
        self._verdict.setText(f"{'✓' if newest.is_good else '✕'} {newest.title}")
        self._verdict.setProperty("tone", "good" if newest.is_good else "bad")
        self._verdict.style().unpolish(self._verdict)
        self._verdict.style().polish(self._verdict)
        text = "\n\n".join(map(_in_full, notes))
        if text != self.text.toPlainText():
            self.text.setPlainText(text)


class _Pane(QPlainTextEdit):
    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName("What dry runs said")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().lineSpacing()
        return QSize(line * 12, line * _LINES)


def _in_full(note: Note) -> str:
    at = time.strftime("%H:%M:%S", time.localtime(note.at))
    return f"[{at}] {note.title}\n{note.text}"
