"""RawPage: observation, info and step as text."""

import time

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.raw_text import format_json, format_readable

_INTERVAL_MS = 100
"""Minimum time between two updates of the text."""


class RawPage(QWidget):
    """Content of the Raw tab. Keeps its scroll position; not updated while text is selected."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._displayed_at = 0.0
        self._timer = QTimer(self, singleShot=True, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._show_step)
        self._title = QLabel()
        self._title.setProperty("role", "muted")
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setAccessibleName("Observation and info as text")
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._text.selectionChanged.connect(self._on_selection_changed)
        copy = QPushButton("Copy all")
        copy.setProperty("role", "quiet")
        copy.setToolTip("Copy the complete step as JSON")
        set_icon(copy, "copy", theme, "muted")
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
        model.step_view_changed.connect(self._show_soon)
        self._show_soon()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._show_step()

    def _show_soon(self) -> None:
        """Update the text if it is visible, at most once per interval."""
        if not self.isVisible() or self._timer.isActive():
            return
        waited_ms = (time.monotonic() - self._displayed_at) * 1000
        if waited_ms >= _INTERVAL_MS:
            self._show_step()
        else:
            self._timer.start()

    def _show_step(self) -> None:
        self._displayed_at = time.monotonic()
        step = self._model.step
        number = f"Step {step.step + 1}" if step else "Before the first step"
        if self._text.textCursor().hasSelection():
            self._title.setText(f"{number} available; clear the selection to show it")
            return
        self._title.setText(number)
        text = format_readable(self._fields())
        if text != self._text.toPlainText():
            across, down = self._text.horizontalScrollBar(), self._text.verticalScrollBar()
            position = (across.value(), down.value())
            self._text.setPlainText(text)
            across.setValue(position[0])
            down.setValue(position[1])

    def _on_selection_changed(self) -> None:
        if not self._text.textCursor().hasSelection():
            self._show_soon()

    def _fields(self) -> dict[str, object]:
        step_view, step = self._model.step_view, self._model.step
        observed = step_view.observation, step_view.info, step_view.render
        if not step_view.episode_id and step is not None:
            observed = step.obs, step.info, step.render
        fields: dict[str, object] = {"observation": observed[0]}
        if step is not None:
            fields |= {
                "action": step.action,
                "reward": step.reward,
                "terminated": step.terminated,
                "truncated": step.truncated,
                "actor": step.actor,
            }
        fields["info"] = observed[1]
        if observed[2] is not None:
            fields["render"] = observed[2]
        return fields

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(format_json(self._fields()))
