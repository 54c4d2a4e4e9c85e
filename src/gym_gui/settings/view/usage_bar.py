"""UsageBar: what takes the room, as one bar and as words."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.settings.model.settings_model import size_text
from gym_gui.widgets.mixing import mixed
from mosaic.contract.storage import StorageUse

_COLUMNS = 3
_STRENGTHS = (1.0, 0.72, 0.5, 0.34, 0.22)
"""Of one calm colour, from what takes most to what takes least; the words tell them apart."""
_GAP = 1.5


class UsageBar(QWidget):
    """Kinds that take nothing are left out."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._theme = theme
        self._bar = _Bar(theme)
        self._legend = QGridLayout()
        self._legend.setHorizontalSpacing(line)
        self._legend.setVerticalSpacing(line // 4)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 2)
        layout.addWidget(self._bar)
        layout.addLayout(self._legend)

    def show_use(self, used: tuple[StorageUse, ...]) -> None:
        there = sorted(
            (each for each in used if each.size_bytes > 0), key=lambda each: -each.size_bytes
        )
        self._bar.show_shares([each.size_bytes for each in there])
        while self._legend.count():
            item = self._legend.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        for at, each in enumerate(there):
            entry = _Entry(f"{each.kind} {size_text(each.size_bytes)}", at, self._theme)
            self._legend.addWidget(entry, at // _COLUMNS, at % _COLUMNS)
        self._legend.setColumnStretch(_COLUMNS, 1)
        words = ", ".join(f"{each.kind} {size_text(each.size_bytes)}" for each in there)
        self.setAccessibleName(f"Disk use: {words}")


class _Bar(QWidget):
    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        self._theme = theme
        self._shares: list[int] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_shares(self, shares: list[int]) -> None:
        self._shares = shares
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 20, line * 2 // 3)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(self.rect())
        outline = QPainterPath()
        outline.addRoundedRect(room, room.height() / 2, room.height() / 2)
        painter.setClipPath(outline)
        painter.fillRect(room, QColor(self._theme.colours.line))
        total, left = sum(self._shares), 0.0
        for at, share in enumerate(self._shares):
            width = room.width() * share / total
            part = QRectF(left, 0, max(0.0, width - _GAP), room.height())
            painter.fillRect(part, _colour(at, self._theme.colours))
            left += width
        painter.end()


class _Entry(QLabel):
    """The colour of a kind, and its words."""

    def __init__(self, text: str, at: int, theme: ThemeModel) -> None:
        super().__init__(text)
        self._at = at
        self._theme = theme
        self.setProperty("role", "caption")
        self.setContentsMargins(self.fontMetrics().height(), 0, 0, 0)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = self.fontMetrics().height() * 0.55
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_colour(self._at, self._theme.colours))
        painter.drawRoundedRect(QRectF(1, (self.height() - side) / 2, side, side), 2, 2)
        painter.end()


def _colour(at: int, colours: Colours) -> QColor:
    return mixed(colours.accent, colours.line, _STRENGTHS[min(at, len(_STRENGTHS) - 1)])
