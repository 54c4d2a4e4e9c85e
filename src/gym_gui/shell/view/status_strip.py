"""StatusStrip: the line at the foot of the window. The main window puts it into its status bar."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.model import StatusModel, Words
from gym_gui.widgets.icons import IconName, draw_icon

_MARKS: dict[Tone, IconName] = {
    "plain": "refresh",
    "good": "check",
    "warning": "warning",
    "bad": "error",
}


class StatusStrip(QWidget):
    """Daemon, runs, machine and actor on the left, the disk on the right."""

    start_requested = Signal()
    """The daemon is lost, and somebody clicked on the words that say so."""

    def __init__(
        self, model: StatusModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._daemon = _DaemonButton(theme)
        self._runs = _Part()
        self._machine = _Part()
        self._actor = _Part()
        self._disk = _Part()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line // 3, 0, line // 2, 0)
        layout.setSpacing(round(line * 1.4))
        layout.addWidget(self._daemon)
        for part in (self._runs, self._machine, self._actor):
            layout.addWidget(part)
        layout.addStretch(1)
        layout.addWidget(self._disk)
        self._daemon.clicked.connect(self._on_daemon_clicked)
        model.changed.connect(self._update)
        self._update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._make_room()

    def _update(self) -> None:
        status = self._model.status
        self._daemon.show_text(status.daemon, can_start=status.can_start_daemon)
        for part, words in (
            (self._runs, status.runs),
            (self._machine, status.machine),
            (self._actor, status.actor),
            (self._disk, status.disk),
        ):
            part.show_text(words)
        self._make_room()

    def _make_room(self) -> None:
        """In a narrow window the machine goes first, then the disk: whole words or none."""
        spacing = self.layout().spacing() if self.layout() is not None else 0  # type: ignore[union-attr]
        room = self.width() - 2 * self.fontMetrics().height()
        parts = (self._daemon, self._runs, self._actor, self._disk, self._machine)
        for part in parts:
            has_words = bool(part.text())
            needed = part.sizeHint().width() + spacing
            part.setVisible(has_words and (room >= needed or part is self._daemon))
            if has_words:
                room -= needed

    def _on_daemon_clicked(self) -> None:
        if self._model.status.can_start_daemon:
            self.start_requested.emit()


class _Part(QLabel):
    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "muted")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def show_text(self, words: Words) -> None:
        tone = "" if words.tone == "plain" else words.tone
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)
        self.setText(words.text)
        self.setToolTip(words.tip)


class _DaemonButton(QPushButton):
    """A mark and words; a button only while there is something to start."""

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        self._theme = theme
        self._words = Words()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_text(self, words: Words, *, can_start: bool) -> None:
        self._words = words
        self.setText(words.text)
        self.setToolTip(words.tip)
        self.setAccessibleDescription(words.tip)
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
        tone = self._words.tone
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
        mark = QRectF(line * 0.35, (self.height() - line) / 2, line, line)
        draw_icon(painter, _MARKS[tone], ink, mark)
        painter.setPen(QColor(ink))
        words = self.rect().adjusted(round(line * 1.6), 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()
