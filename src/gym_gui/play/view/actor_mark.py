"""ActorMark: who acts, beside the view: a mark, words and a colour that cannot be mistaken."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.mixing import mixed

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_WRAPPED = _LEFT | Qt.TextFlag.TextWordWrap


class ActorMark(QWidget):
    """Orange with a person: you act. Blue with a robot: an agent does. Else how far things are."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._words = ("", "")
        self._shown: tuple[object, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        model.changed.connect(self._show_state)
        model.has_keyboard_changed.connect(self._show_state)
        theme.changed.connect(self.update)
        self._show_state()

    @property
    def words(self) -> str:
        return " ".join(word for word in self._words if word)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        font = self.font()
        font.setBold(True)
        wide = QFontMetrics(font).horizontalAdvance(f"{self._words[0]}  ")
        wide += self.fontMetrics().horizontalAdvance(self._words[1])
        return QSize(wide + line * 3, line * 2)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """What went wrong is read to its end, in as many lines as it takes."""
        line = self.fontMetrics().height()
        if self._words[1]:
            return line * 2
        font = self.font()
        font.setBold(True)
        room = QRect(0, 0, max(1, width - round(line * 2.2) - line // 2), 10_000)
        needed = QFontMetrics(font).boundingRect(room, int(_WRAPPED), self._words[0])
        return max(line * 2, needed.height() + line)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 9, line * 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        self._model.ask_for_keyboard()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours, line = self._theme.colours, self.fontMetrics().height()
        colour, icon = self._look()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(mixed(colour, colours.line, 0.6), 1.0))
        painter.setBrush(mixed(colour, colours.surface, 0.14))
        painter.drawRoundedRect(card, 7, 7)
        mark = QRectF(line * 0.6, (self.height() - line * 1.15) / 2, line * 1.15, line * 1.15)
        draw_icon(painter, icon, colour, mark)
        room = self.rect().adjusted(round(line * 2.2), 0, -line // 2, 0)
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        if not self._words[1]:
            painter.drawText(room, int(_WRAPPED), self._words[0])
            painter.end()
            return
        who = self._elided(painter, self._words[0], room.width())
        painter.drawText(room, _LEFT, who)
        room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance(who + "  "))
        font.setBold(False)
        painter.setFont(font)
        painter.setPen(QColor(colours.muted))
        painter.drawText(room, _LEFT, self._elided(painter, self._words[1], room.width()))
        painter.end()

    def _elided(self, painter: QPainter, text: str, width: int) -> str:
        elide = Qt.TextElideMode.ElideRight
        return painter.fontMetrics().elidedText(text, elide, max(0, width))

    def _look(self) -> tuple[str, IconName]:
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
        shown = (self._words_now(), self._look())
        if shown != self._shown:
            self._shown = shown
            self._words = shown[0]
            self.setAccessibleName(self.words)
            self.setToolTip(self.words)
            self.updateGeometry()
            self.update()

    def _words_now(self) -> tuple[str, str]:
        model = self._model
        if model.problem:
            return model.problem, ""
        if not model.is_playing:
            return model.phase_words, ""
        if model.awaits_new_episode:
            return "Episode over", model.hint
        if model.pause_reason:
            return f"Paused: {model.pause_reason}. {model.keys.cap('pause')} goes on.", ""
        if model.awaits_first_key:
            return "Press a key to begin", model.hint
        paused = "Paused. " if model.is_paused else ""
        key = model.keys.cap("takeover")
        if model.person_acts:
            back = f"{key} gives back to {model.actor_label}" if model.has_agent else ""
            return "You are acting", model.hint or f"{paused}{back}"
        return f"{model.actor_label} is acting", model.hint or f"{paused}{key} takes over"
