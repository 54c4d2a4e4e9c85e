"""KeyCap: a key as on a keyboard, highlighted while it is pressed."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.styling import blend

_ARROWS: dict[str, IconName] = {
    "←": "arrow-left",
    "→": "arrow-right",
    "↑": "arrow-up",
    "↓": "arrow-down",
}


class KeyCap(QLabel):
    """`text` is a letter, a word such as Space, or an arrow (←), which is painted as an icon."""

    def __init__(self, text: str, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._is_pressed = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    @property
    def is_pressed(self) -> bool:
        return self._is_pressed

    def set_pressed(self, is_pressed: bool) -> None:
        if is_pressed != self._is_pressed:
            self._is_pressed = is_pressed
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        height = round(metrics.height() * 1.6)
        width = metrics.horizontalAdvance(self.text()) + round(metrics.height() * 0.9)
        return QSize(max(height, width), height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cap = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        face, edge, ink = colours.raised, blend(colours.text, colours.line, 0.12), colours.text
        if not self.isEnabled():
            ink = colours.disabled
        elif self._is_pressed:
            face, edge, ink = colours.accent, QColor(colours.accent), colours.on_accent
        painter.setPen(QPen(edge, 1.0))
        # The visible lower edge of a key that is not pressed.
        painter.setBrush(edge)
        painter.drawRoundedRect(cap, 4, 4)
        top = cap if self._is_pressed else cap.adjusted(0, 0, 0, -1.5)
        painter.setBrush(QColor(face))
        painter.drawRoundedRect(top, 4, 4)
        arrow = _ARROWS.get(self.text())
        if arrow is None:
            painter.setPen(QColor(ink))
            painter.drawText(top, Qt.AlignmentFlag.AlignCenter, self.text())
        else:
            side = self.fontMetrics().height() * 0.95
            rect = QRectF(0, 0, side, side)
            rect.moveCenter(top.center())
            draw_icon(painter, arrow, ink, rect)
        painter.end()
