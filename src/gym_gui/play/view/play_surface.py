"""PlaySurface: the border around a play view; it shows the actor and the keyboard focus.

Grid, Frame and Raw are one surface each. Without a session it shows how to start one.
"""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName

_RING = 3.0


class PlaySurface(QWidget):
    """A click routes keys to the environment."""

    def __init__(
        self,
        model: PlayModel,
        content: QWidget,
        icon: IconName,
        name: str,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._content = content
        self._ring = (False, False, False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self._empty = EmptyState(icon, "", "", theme)
        self._empty.action_triggered.connect(model.play_requested)
        inside = QWidget()
        self._stack = QStackedLayout(inside)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(content)
        layout = QVBoxLayout(self)
        edge = int(_RING) + 1
        layout.setContentsMargins(edge, edge, edge, edge)
        layout.addWidget(inside)
        model.changed.connect(self._show_state)
        model.has_keyboard_changed.connect(self._show_ring)
        theme.changed.connect(self.update)
        self._show_state()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        self._model.request_keyboard()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Solid: the environment gets keys. Dashed: an agent acts. Thin: no keyboard focus."""
        model, colours = self._model, self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.canvas))
        if model.is_playing:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            pen = QPen(QColor(colours.person if model.person_acts else colours.agent), _RING)
            if not model.person_acts:
                pen.setStyle(Qt.PenStyle.DashLine)
            elif not model.has_keyboard:
                pen.setWidthF(1.0)
            painter.setPen(pen)
            inset = _RING / 2
            painter.drawRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset))
        painter.end()

    def _show_state(self) -> None:
        model = self._model
        has_content = bool(model.step_view.episode_id) or model.frame is not None or model.step
        if has_content and not model.is_empty:
            self._stack.setCurrentWidget(self._content)
        else:
            self._show_empty_reason()
            self._stack.setCurrentWidget(self._empty)
        self._show_ring()

    def _show_ring(self) -> None:
        """Repaint only on changes, because the content is repainted, too."""
        model = self._model
        ring = (model.is_playing, model.person_acts, model.has_keyboard)
        if ring != self._ring:
            self._ring = ring
            self.update()

    def _show_empty_reason(self) -> None:
        model = self._model
        if model.problem and not model.is_on:
            self._empty.show_message("Session failed to start", model.problem, "Try again")
        elif model.is_on:
            self._empty.show_message(model.phase_text, model.problem)
        elif model.is_empty:
            self._empty.show_message(
                "No session yet",
                "Select an environment and an actor, then press Play.",
                "Play now",
            )
        else:
            self._empty.show_message(model.phase_text, "", "Play again")
