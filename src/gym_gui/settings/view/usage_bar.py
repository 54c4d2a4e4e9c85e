"""UsageBar: disk usage by kind, as a bar with a legend."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.settings.model.settings_model import size_text
from gym_gui.widgets.styling import blend
from mosaic.contract.storage import StorageUse

_COLUMNS = 3
_SHADES = (1.0, 0.72, 0.5, 0.34, 0.22)
"""Shades of one colour, largest kind first."""
_GAP = 1.5


class UsageBar(QWidget):
    """Shows `StorageUse` values; empty kinds are omitted."""

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
        entries = sorted(
            (usage for usage in used if usage.size_bytes > 0), key=lambda usage: -usage.size_bytes
        )
        self._bar.show_shares([usage.size_bytes for usage in entries])
        while self._legend.count():
            item = self._legend.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        for index, usage in enumerate(entries):
            entry = _Entry(f"{usage.kind} {size_text(usage.size_bytes)}", index, self._theme)
            self._legend.addWidget(entry, index // _COLUMNS, index % _COLUMNS)
        self._legend.setColumnStretch(_COLUMNS, 1)
        text = ", ".join(f"{usage.kind} {size_text(usage.size_bytes)}" for usage in entries)
        self.setAccessibleName(f"Disk usage: {text}")


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
        rect = QRectF(self.rect())
        outline = QPainterPath()
        outline.addRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        painter.setClipPath(outline)
        painter.fillRect(rect, QColor(self._theme.colours.line))
        total, left = sum(self._shares), 0.0
        for index, share in enumerate(self._shares):
            width = rect.width() * share / total
            segment = QRectF(left, 0, max(0.0, width - _GAP), rect.height())
            painter.fillRect(segment, _colour(index, self._theme.colours))
            left += width
        painter.end()


class _Entry(QLabel):
    """Colour and text of a kind."""

    def __init__(self, text: str, index: int, theme: ThemeModel) -> None:
        super().__init__(text)
        self._index = index
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
        painter.setBrush(_colour(self._index, self._theme.colours))
        painter.drawRoundedRect(QRectF(1, (self.height() - side) / 2, side, side), 2, 2)
        painter.end()


def _colour(index: int, colours: Colours) -> QColor:
    return blend(colours.accent, colours.line, _SHADES[min(index, len(_SHADES) - 1)])
