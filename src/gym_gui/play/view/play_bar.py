"""PlayBar: what a person plays with, under the view: who acts, the score, the keys, the end."""

from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.actor_mark import ActorMark
from gym_gui.play.view.episode_card import EpisodeCard
from gym_gui.play.view.key_hints import KeyHints
from gym_gui.play.view.score_line import ScoreLine
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import keep_icon

_WIDE_EMS = 48
"""From here on the score has room beside who acts and how to get the keys."""


class PlayBar(QWidget):
    """Not there before anything was played; from then on always there, so that nothing jumps."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.actor_mark = ActorMark(model, theme)
        self.score_line = ScoreLine(model)
        self.key_hints = KeyHints(model, theme)
        self.episode_card = EpisodeCard(model, theme)
        self._get_keys = QPushButton("Click here or press F2 to play with the keys")
        self._get_keys.setProperty("role", "quiet")
        keep_icon(self._get_keys, "keyboard", theme, "person")
        self._get_keys.clicked.connect(model.ask_for_keyboard)
        self._lower = QStackedWidget()
        self._lower.addWidget(self.key_hints)
        self._lower.addWidget(self.episode_card)
        line = self.fontMetrics().height()
        who = QHBoxLayout()
        who.setSpacing(line // 2)
        who.addWidget(self.actor_mark)
        who.addWidget(self._get_keys)
        who.addStretch(1)
        self._upper = upper = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        upper.setSpacing(line // 2)
        upper.addLayout(who, 1)
        upper.addWidget(self.score_line)
        self._content = QWidget()
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._content)
        layout = QVBoxLayout(self._content)
        layout.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(upper)
        layout.addWidget(self._lower)
        model.changed.connect(self._show_state)
        model.has_keyboard_changed.connect(self._show_state)
        theme.changed.connect(self.update)
        self._show_state()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_narrow = self.width() < self.fontMetrics().height() * _WIDE_EMS
        direction = QBoxLayout.Direction
        self._upper.setDirection(direction.TopToBottom if is_narrow else direction.LeftToRight)
        self.score_line.set_one_line(is_narrow)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.surface))
        painter.fillRect(0, 0, self.width(), 1, QColor(colours.line))
        painter.end()

    def _show_state(self) -> None:
        model = self._model
        self._content.setVisible(not model.is_empty)
        self._get_keys.setVisible(model.person_acts and not model.has_keyboard)
        shows_end = model.is_over and model.person_acts
        self._lower.setCurrentWidget(self.episode_card if shows_end else self.key_hints)
