"""StatusStrip: the contents of the window's status bar; shows `StatusModel`."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.model import StatusModel, StatusText
from gym_gui.widgets.icons import IconName, draw_icon

_ICONS: dict[Tone, IconName] = {
    "plain": "refresh",
    "good": "check",
    "warning": "warning",
    "bad": "error",
}


class StatusStrip(QWidget):
    """Daemon, runs, machine and actor on the left, disk usage on the right."""

    start_requested = Signal()
    """The user clicked on the text of a lost daemon."""

    def __init__(
        self, model: StatusModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._daemon = _DaemonButton(theme)
        self._runs = _Section()
        self._machine = _Section()
        self._actor = _Section()
        self._disk = _Section()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line // 3, 0, line // 2, 0)
        layout.setSpacing(round(line * 1.4))
        layout.addWidget(self._daemon)
        for section in (self._runs, self._machine, self._actor):
            layout.addWidget(section)
        layout.addStretch(1)
        layout.addWidget(self._disk)
        self._daemon.clicked.connect(self._on_daemon_clicked)
        model.changed.connect(self._update)
        self._update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._hide_overflow()

    def _update(self) -> None:
        status = self._model.status
        self._daemon.set_status(status.daemon, can_start=status.can_start_daemon)
        for section, text in (
            (self._runs, status.runs),
            (self._machine, status.machine),
            (self._actor, status.actor),
            (self._disk, status.disk),
        ):
            section.set_status(text)
        self._hide_overflow()

    def _hide_overflow(self) -> None:
        """Hide sections that do not fit: first the machine, then the disk."""
        spacing = self.layout().spacing() if self.layout() is not None else 0  # type: ignore[union-attr]
        free = self.width() - 2 * self.fontMetrics().height()
        sections = (self._daemon, self._runs, self._actor, self._disk, self._machine)
        for section in sections:
            has_text = bool(section.text())
            needed = section.sizeHint().width() + spacing
            section.setVisible(has_text and (free >= needed or section is self._daemon))
            if has_text:
                free -= needed

    def _on_daemon_clicked(self) -> None:
        if self._model.status.can_start_daemon:
            self.start_requested.emit()


class _Section(QLabel):
    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "muted")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def set_status(self, status: StatusText) -> None:
        tone = "" if status.tone == "plain" else status.tone
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)
        self.setText(status.text)
        self.setToolTip(status.tip)


class _DaemonButton(QPushButton):
    """An icon and a text; clickable only while the daemon can be started."""

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        self._theme = theme
        self._status = StatusText()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_status(self, status: StatusText, *, can_start: bool) -> None:
        self._status = status
        self.setText(status.text)
        self.setToolTip(status.tip)
        self.setAccessibleDescription(status.tip)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if can_start else Qt.FocusPolicy.NoFocus)
        shape = Qt.CursorShape.PointingHandCursor if can_start else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.text()) + round(metrics.height() * 2.1)
        return QSize(width, round(metrics.height() * 1.6))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        tone = self._status.tone
        ink = colours.muted if tone == "plain" else str(getattr(colours, tone))
        line = self.fontMetrics().height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        can_start = self.focusPolicy() != Qt.FocusPolicy.NoFocus
        if can_start and (self.underMouse() or self.hasFocus()):
            edge = QColor(colours.accent) if self.hasFocus() else QColor(colours.raised)
            painter.setPen(QPen(edge, 1.0))
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        icon_rect = QRectF(line * 0.35, (self.height() - line) / 2, line, line)
        draw_icon(painter, _ICONS[tone], ink, icon_rect)
        painter.setPen(QColor(ink))
        text_rect = self.rect().adjusted(round(line * 1.6), 0, 0, 0)
        painter.drawText(text_rect, Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()
