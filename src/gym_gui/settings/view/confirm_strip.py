"""ConfirmStrip: a button for what cannot be undone, which asks once more in its own place."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget


class ConfirmStrip(QWidget):
    """Nothing happens before the second button; Escape and “Cancel” lead back."""

    confirmed = Signal()

    def __init__(self, text: str, question: str, yes: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self.button = QPushButton(text)
        self._question = QLabel(question)
        self._question.setWordWrap(True)
        self._yes = QPushButton(yes)
        self._yes.setProperty("role", "danger")
        self._no = QPushButton("Cancel")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 2)
        for widget in (self.button, self._question, self._yes, self._no):
            layout.addWidget(widget)
        layout.setStretchFactor(self._question, 1)
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._ask(is_asking=False)
        self.button.clicked.connect(lambda: self._ask(is_asking=True))
        self._no.clicked.connect(lambda: self._ask(is_asking=False))
        self._yes.clicked.connect(self._on_yes)

    def set_question(self, question: str) -> None:
        self._question.setText(question)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape and not self._yes.isHidden():
            self._ask(is_asking=False)
        else:
            super().keyPressEvent(event)

    def _on_yes(self) -> None:
        self._ask(is_asking=False)
        self.confirmed.emit()

    def _ask(self, *, is_asking: bool) -> None:
        had_focus = self.isAncestorOf(self.focusWidget() or self)
        self.button.setHidden(is_asking)
        for widget in (self._question, self._yes, self._no):
            widget.setVisible(is_asking)
        if had_focus:
            # Where nothing is lost by pressing Enter once more.
            (self._no if is_asking else self.button).setFocus()
