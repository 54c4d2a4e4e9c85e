"""RawPage: observation, info and the step as text, for reading and for copying."""

import time

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import keep_icon
from gym_gui.widgets.raw_text import readable, whole

_BETWEEN_MS = 100
"""Text that changes faster cannot be read."""


class RawPage(QWidget):
    """The content of the Raw tab. Keeps its place and does not change under a selection."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._shown_at = 0.0
        self._later = QTimer(self, singleShot=True, interval=_BETWEEN_MS)
        self._later.timeout.connect(self._show_moment)
        self._title = QLabel()
        self._title.setProperty("role", "muted")
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setAccessibleName("Observation and info as text")
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._text.selectionChanged.connect(self._note_selection)
        copy = QPushButton("Copy all")
        copy.setProperty("role", "quiet")
        copy.setToolTip("Copy the whole step as JSON, nothing abbreviated")
        keep_icon(copy, "copy", theme, "muted")
        copy.clicked.connect(self._copy)
        line = self.fontMetrics().height()
        row = QHBoxLayout()
        row.addWidget(self._title, 1)
        row.addWidget(copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(row)
        layout.addWidget(self._text, 1)
        model.moment_changed.connect(self._show_soon)
        self._show_soon()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._show_moment()

    def _show_soon(self) -> None:
        """Nothing is written for nobody, and not more often than one can read."""
        if not self.isVisible() or self._later.isActive():
            return
        waited_ms = (time.monotonic() - self._shown_at) * 1000
        if waited_ms >= _BETWEEN_MS:
            self._show_moment()
        else:
            self._later.start()

    def _show_moment(self) -> None:
        self._shown_at = time.monotonic()
        step = self._model.step
        number = f"Step {step.step + 1}" if step else "Before the first step"
        if self._text.textCursor().hasSelection():
            self._title.setText(f"{number} is there; shown again when nothing is selected")
            return
        self._title.setText(number)
        text = readable(self._told())
        if text != self._text.toPlainText():
            across, down = self._text.horizontalScrollBar(), self._text.verticalScrollBar()
            place = (across.value(), down.value())
            self._text.setPlainText(text)
            across.setValue(place[0])
            down.setValue(place[1])

    def _note_selection(self) -> None:
        if not self._text.textCursor().hasSelection():
            self._show_soon()

    def _told(self) -> dict[str, object]:
        moment, step = self._model.moment, self._model.step
        observed = moment.observation, moment.info, moment.render
        if not moment.episode_id and step is not None:
            observed = step.obs, step.info, step.render
        told: dict[str, object] = {"observation": observed[0]}
        if step is not None:
            told |= {
                "action": step.action,
                "reward": step.reward,
                "terminated": step.terminated,
                "truncated": step.truncated,
                "actor": step.actor,
            }
        told["info"] = observed[1]
        if observed[2] is not None:
            told["render"] = observed[2]
        return told

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(whole(self._told()))
