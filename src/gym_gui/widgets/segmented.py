"""SegmentedControl: a few choices side by side, of which one holds (Human | Hybrid | Agent)."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.mixing import mixed

_RADIUS = 6.0
_USUAL_EMS = 2.0
_LOW_EMS = 1.5


class SegmentedControl(QWidget):
    """Tab reaches the one that holds, the arrow keys change it."""

    chosen = Signal(str)
    """By the person, not by `choose`."""

    def __init__(
        self,
        options: Sequence[tuple[str, str]],
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        is_low: bool = False,
    ) -> None:
        """`options` are ids and texts; the first one holds. A low one fits into a row of tabs."""
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._segments: dict[str, _Segment] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for index, (option, text) in enumerate(options):
            segment = _Segment(text, theme, index == 0, index == len(options) - 1)
            if is_low:
                segment.height_ems = _LOW_EMS
                segment.setProperty("role", "low")
            segment.toggled.connect(self._repaint)
            self._segments[option] = segment
            self._group.addButton(segment)
            layout.addWidget(segment, 1)
        next(iter(self._segments.values())).setChecked(True)
        # A mouse, a key and a screen reader all end here; `choose` does not.
        self._group.buttonClicked.connect(lambda _: self.chosen.emit(self.current))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._repaint)

    @property
    def current(self) -> str:
        return next(option for option, each in self._segments.items() if each.isChecked())

    def choose(self, option: str) -> None:
        self._segments[option].setChecked(True)

    def set_enabled_option(self, option: str, is_enabled: bool, why: str = "") -> None:
        """`why` it is not enabled is its tooltip."""
        self._segments[option].setEnabled(is_enabled)
        self._segments[option].setToolTip("" if is_enabled else why)

    def set_tip(self, option: str, tip: str) -> None:
        self._segments[option].setToolTip(tip)

    def _repaint(self) -> None:
        for segment in self._segments.values():
            segment.update()


class _Segment(QPushButton):
    """One of the choices; paints its part of the common frame."""

    def __init__(self, text: str, theme: ThemeModel, is_first: bool, is_last: bool) -> None:
        super().__init__(text)
        self.height_ems = _USUAL_EMS
        self._theme = theme
        self._is_first = is_first
        self._is_last = is_last
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        font = self.font()
        font.setBold(True)
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.text()) + 2 * metrics.height()
        return QSize(round(width * 1.06), round(metrics.height() * self.height_ems))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        return QSize(
            round(metrics.horizontalAdvance(self.text()) * 1.1) + metrics.height() // 2,
            self.sizeHint().height(),
        )

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 - Qt's name
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = self._outline(0.5)
        ground = QColor(colours.surface)
        if self.isChecked():
            ground = QColor(colours.selection)
        elif self.underMouse() and self.isEnabled():
            ground = QColor(colours.raised)
        painter.fillPath(outline, ground)
        edge = mixed(colours.accent, colours.line, 0.55) if self.isChecked() else colours.line
        painter.setPen(QPen(QColor(edge), 1.0))
        painter.drawPath(outline)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 2.0))
            painter.drawPath(self._outline(2.0))
        font = self.font()
        font.setBold(self.isChecked())
        painter.setFont(font)
        role = colours.text if self.isChecked() else colours.muted
        painter.setPen(QColor(role if self.isEnabled() else colours.disabled))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()

    def _outline(self, inset: float) -> QPainterPath:
        """Round where the control ends, straight towards the neighbours."""
        box = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        if inset < 1.0 and not self._is_first:
            # Neighbours share one line.
            box.setLeft(box.left() - 1.0)
        radius = max(_RADIUS - inset, 2.0)
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        path.addRoundedRect(box, radius, radius)
        if not self._is_first:
            path.addRect(QRectF(box.left(), box.top(), radius, box.height()))
        if not self._is_last:
            path.addRect(QRectF(box.right() - radius, box.top(), radius, box.height()))
        return path.simplified()
