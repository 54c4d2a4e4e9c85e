"""ActorMark: the current actor or the session phase as icon, text and colour."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.styling import blend

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_WRAPPED = _LEFT | Qt.TextFlag.TextWordWrap


class ActorMark(QWidget):
    """Shows `PlayModel`. Orange: the user acts. Blue: an agent acts. Otherwise the phase."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._lines = ("", "")
        self._displayed: tuple[object, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        model.changed.connect(self._show_state)
        model.has_keyboard_changed.connect(self._show_state)
        theme.changed.connect(self.update)
        self._show_state()

    @property
    def text(self) -> str:
        return " ".join(line for line in self._lines if line)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        font = self.font()
        font.setBold(True)
        wide = QFontMetrics(font).horizontalAdvance(f"{self._lines[0]}  ")
        wide += self.fontMetrics().horizontalAdvance(self._lines[1])
        return QSize(wide + line * 3, line * 2)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Errors are wrapped and never elided."""
        line = self.fontMetrics().height()
        if self._lines[1]:
            return line * 2
        font = self.font()
        font.setBold(True)
        rect = QRect(0, 0, max(1, width - round(line * 2.2) - line // 2), 10_000)
        needed = QFontMetrics(font).boundingRect(rect, int(_WRAPPED), self._lines[0])
        return max(line * 2, needed.height() + line)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 9, line * 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        self._model.request_keyboard()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours, line = self._theme.colours, self.fontMetrics().height()
        colour, icon = self._style()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(blend(colour, colours.line, 0.6), 1.0))
        painter.setBrush(blend(colour, colours.surface, 0.14))
        painter.drawRoundedRect(card, 7, 7)
        mark = QRectF(line * 0.6, (self.height() - line * 1.15) / 2, line * 1.15, line * 1.15)
        draw_icon(painter, icon, colour, mark)
        rect = self.rect().adjusted(round(line * 2.2), 0, -line // 2, 0)
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        if not self._lines[1]:
            painter.drawText(rect, int(_WRAPPED), self._lines[0])
            painter.end()
            return
        who = self._elided(painter, self._lines[0], rect.width())
        painter.drawText(rect, _LEFT, who)
        rect.setLeft(rect.left() + painter.fontMetrics().horizontalAdvance(who + "  "))
        font.setBold(False)
        painter.setFont(font)
        painter.setPen(QColor(colours.muted))
        painter.drawText(rect, _LEFT, self._elided(painter, self._lines[1], rect.width()))
        painter.end()

    def _elided(self, painter: QPainter, text: str, width: int) -> str:
        elide = Qt.TextElideMode.ElideRight
        return painter.fontMetrics().elidedText(text, elide, max(0, width))

    def _style(self) -> tuple[str, IconName]:
        colours, model = self._theme.colours, self._model
        if model.problem:
            return colours.bad, "warning"
        if not model.is_playing:
            return colours.muted, "info"
        if model.awaits_new_episode:
            return colours.muted, "info"
        if model.person_acts:
            return colours.person, "person"
        return colours.agent, "robot"

    def _show_state(self) -> None:
        state = (self._current_text(), self._style())
        if state != self._displayed:
            self._displayed = state
            self._lines = state[0]
            self.setAccessibleName(self.text)
            self.setToolTip(self.text)
            self.updateGeometry()
            self.update()

    def _current_text(self) -> tuple[str, str]:
        model = self._model
        if model.problem:
            return model.problem, ""
        if not model.is_playing:
            return model.phase_text, ""
        if model.awaits_new_episode:
            return "Episode finished", model.hint
        if model.pause_reason:
            return f"Paused: {model.pause_reason}. {model.keys.cap('pause')} resumes.", ""
        if model.awaits_first_key:
            return "Press a key to start", model.hint
        paused = "Paused. " if model.is_paused else ""
        key = model.keys.cap("takeover")
        if model.person_acts:
            back = f"{key} returns control to {model.actor_label}" if model.has_agent else ""
            return "You are acting", model.hint or f"{paused}{back}"
        return f"{model.actor_label} is acting", model.hint or f"{paused}{key} takes over"
