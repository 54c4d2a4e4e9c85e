"""KeyCap: a key as it looks on a keyboard, lit while it is pressed."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.mixing import mixed

_ARROWS: dict[str, IconName] = {
    "←": "arrow-left",
    "→": "arrow-right",
    "↑": "arrow-up",
    "↓": "arrow-down",
}


class KeyCap(QLabel):
    """`text` is a letter, a word such as Space, or an arrow (←), which is drawn."""

    def __init__(self, text: str, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._is_lit = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    @property
    def is_lit(self) -> bool:
        return self._is_lit

    def set_lit(self, is_lit: bool) -> None:
        if is_lit != self._is_lit:
            self._is_lit = is_lit
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        height = round(metrics.height() * 1.6)
        wide = metrics.horizontalAdvance(self.text()) + round(metrics.height() * 0.9)
        return QSize(max(height, wide), height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cap = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        face, edge, ink = colours.raised, mixed(colours.text, colours.line, 0.12), colours.text
        if not self.isEnabled():
            ink = colours.disabled
        elif self._is_lit:
            face, edge, ink = colours.accent, QColor(colours.accent), colours.on_accent
        painter.setPen(QPen(edge, 1.0))
        # The lower lip is what makes it a key; a pressed one has none.
        painter.setBrush(edge)
        painter.drawRoundedRect(cap, 4, 4)
        top = cap if self._is_lit else cap.adjusted(0, 0, 0, -1.5)
        painter.setBrush(QColor(face))
        painter.drawRoundedRect(top, 4, 4)
        arrow = _ARROWS.get(self.text())
        if arrow is None:
            painter.setPen(QColor(ink))
            painter.drawText(top, Qt.AlignmentFlag.AlignCenter, self.text())
        else:
            side = self.fontMetrics().height() * 0.95
            place = QRectF(0, 0, side, side)
            place.moveCenter(top.center())
            draw_icon(painter, arrow, ink, place)
        painter.end()
