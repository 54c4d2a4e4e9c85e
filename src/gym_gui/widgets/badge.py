"""Badge: a status of one or two words in a pill, such as `running` or `no GPU`."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.styling import blend, scaled_font


class Badge(QLabel):
    """The text names the status; the colour is redundant."""

    def __init__(
        self, text: str, tone: Tone, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self._tone: Tone = tone
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFont(scaled_font(self.font(), 0.9))
        theme.changed.connect(self.update)

    @property
    def tone(self) -> Tone:
        return self._tone

    def show_text(self, text: str, tone: Tone = "plain") -> None:
        self._tone = tone
        self.setText(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.text()) + round(metrics.height() * 1.3)
        return QSize(width, round(metrics.height() * 1.45))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 2, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        ink = colours.muted if self._tone == "plain" else str(getattr(colours, self._tone))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pill = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(blend(ink, colours.surface, 0.45), 1.0))
        painter.setBrush(blend(ink, colours.surface, 0.08))
        painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
        painter.setPen(QColor(ink if self.isEnabled() else colours.disabled))
        edge = round(self.fontMetrics().height() * 0.5)
        rect = self.rect().adjusted(edge, 0, -edge, 0)
        elided = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, rect.width() + 2
        )
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, elided)
        painter.end()
