"""VerdictCard: whether the replay is what happened, in one glance: a mark, a word and the proof."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.replay.model.replay_verdict import ReplayVerdict
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge

_MARKS = {"good": "✓ ", "warning": "! ", "bad": "✕ ", "plain": ""}


class VerdictCard(QFrame):
    """Hidden while there is nothing to say."""

    retry_wanted = Signal()

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: ReplayVerdict | None = None
        self.setProperty("role", "card")
        self.setAccessibleName("Exactness of the replay")
        line = self.fontMetrics().height()
        self._badge = Badge("", "plain", theme)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._detail = QLabel()
        self._detail.setProperty("role", "caption")
        self._detail.setWordWrap(True)
        self._retry = QPushButton("Try again")
        self._retry.clicked.connect(self.retry_wanted)
        head = QHBoxLayout()
        head.addWidget(self._badge)
        head.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 2, line // 2, line // 2)
        layout.setSpacing(line // 4)
        layout.addLayout(head)
        layout.addWidget(self._text)
        layout.addWidget(self._detail)
        layout.addWidget(self._retry)
        self.hide()

    def show_verdict(self, verdict: ReplayVerdict | None) -> None:
        """Said anew only when it is another one."""
        if verdict == self._shown:
            return
        self._shown = verdict
        self.setVisible(verdict is not None)
        if verdict is None:
            return
        self._badge.show_text(_MARKS[verdict.tone] + verdict.headline, verdict.tone)
        self._text.setText(verdict.text)
        self._text.setVisible(bool(verdict.text))
        self._detail.setText(verdict.detail)
        self._detail.setVisible(bool(verdict.detail))
        self._retry.setVisible(verdict.can_retry)
        self.setAccessibleDescription(f"{verdict.headline}: {verdict.text} {verdict.detail}")
