"""Buttons: SegmentedControl selects one of a few options, CopyButton copies a text."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.styling import blend

_CONFIRM_MS = 1_200
_RADIUS = 6.0
_NORMAL_EMS = 2.0
_COMPACT_EMS = 1.5


class SegmentedControl(QWidget):
    """Options side by side, such as Human | Hybrid | Agent. Arrow keys change the selection."""

    activated = Signal(str)
    """The user selected an option; not emitted by `set_current`."""

    def __init__(
        self,
        options: Sequence[tuple[str, str]],
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        is_compact: bool = False,
    ) -> None:
        """`options` are ids and texts; the first one is selected. `is_compact`: for tab bars."""
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._segments: dict[str, _Segment] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for index, (option, text) in enumerate(options):
            segment = _Segment(text, theme, index == 0, index == len(options) - 1)
            if is_compact:
                segment.height_ems = _COMPACT_EMS
                segment.setProperty("role", "compact")
            segment.toggled.connect(self._repaint)
            self._segments[option] = segment
            self._group.addButton(segment)
            layout.addWidget(segment, 1)
        next(iter(self._segments.values())).setChecked(True)
        # Emitted for mouse, keyboard and screen reader, but not for `setChecked`.
        self._group.buttonClicked.connect(lambda _: self.activated.emit(self.current))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._repaint)

    @property
    def current(self) -> str:
        return next(option for option, segment in self._segments.items() if segment.isChecked())

    def set_current(self, option: str) -> None:
        self._segments[option].setChecked(True)

    def set_option_enabled(self, option: str, is_enabled: bool, reason: str = "") -> None:
        """`reason` is the tool tip while the option is disabled."""
        self._segments[option].setEnabled(is_enabled)
        self._segments[option].setToolTip("" if is_enabled else reason)

    def set_option_tool_tip(self, option: str, text: str) -> None:
        self._segments[option].setToolTip(text)

    def _repaint(self) -> None:
        for segment in self._segments.values():
            segment.update()


class _Segment(QPushButton):
    """One option; paints its part of the common outline."""

    def __init__(self, text: str, theme: ThemeModel, is_first: bool, is_last: bool) -> None:
        super().__init__(text)
        self.height_ems = _NORMAL_EMS
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
        background = QColor(colours.surface)
        if self.isChecked():
            background = QColor(colours.selection)
        elif self.underMouse() and self.isEnabled():
            background = QColor(colours.raised)
        painter.fillPath(outline, background)
        edge = blend(colours.accent, colours.line, 0.55) if self.isChecked() else colours.line
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
        """Rounded at the ends of the control, straight between segments."""
        box = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        if inset < 1.0 and not self._is_first:
            # Adjacent segments share one line.
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


class CopyButton(QToolButton):
    """Copies the result of `text` to the clipboard, and confirms with a check mark."""

    def __init__(
        self, name: str, text: Callable[[], str], theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._text = text
        self._theme = theme
        self._confirmation = QTimer(self)
        self._confirmation.setSingleShot(True)
        self._confirmation.setInterval(_CONFIRM_MS)
        self._confirmation.timeout.connect(lambda: set_icon(self, "copy", theme, "muted"))
        self.setToolTip(name)
        self.setAccessibleName(name)
        set_icon(self, "copy", theme, "muted")
        self.clicked.connect(self._copy)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text())
        set_icon(self, "check", self._theme, "good")
        self._confirmation.start()
