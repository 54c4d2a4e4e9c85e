"""Section: a heading that collapses and expands its content."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import draw_icon


class Section(QWidget):
    """The heading is a button: Space or Enter toggles it."""

    toggled = Signal(bool)

    def __init__(
        self,
        title: str,
        content: QWidget,
        theme: ThemeModel,
        *,
        is_open: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._content = content
        self._heading = _Heading(title, theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(self.fontMetrics().height() // 3)
        layout.addWidget(self._heading)
        layout.addWidget(content)
        self._heading.toggled.connect(self._on_toggled)
        self._heading.setChecked(is_open)
        self._show(is_open)

    @property
    def is_open(self) -> bool:
        return self._heading.isChecked()

    def set_open(self, is_open: bool) -> None:
        self._heading.setChecked(is_open)

    def set_title(self, title: str) -> None:
        self._heading.setText(title)
        self._show(self.is_open)

    def _on_toggled(self, is_open: bool) -> None:
        self._show(is_open)
        self.toggled.emit(is_open)

    def _show(self, is_open: bool) -> None:
        self._content.setVisible(is_open)
        title = self._heading.text()
        self._heading.setAccessibleName(f"{title}, {'expanded' if is_open else 'collapsed'}")
        self._heading.setToolTip(f"{'Collapse' if is_open else 'Expand'} “{title}”")


class _Heading(QPushButton):
    def __init__(self, title: str, theme: ThemeModel) -> None:
        super().__init__(title)
        self._theme = theme
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        width = round(metrics.horizontalAdvance(self.text()) * 1.1) + 2 * metrics.height()
        return QSize(width, round(metrics.height() * 1.7))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 5, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = self.fontMetrics().height()
        mark = QRectF(self.width() - side - 1, (self.height() - side) / 2, side, side)
        draw_icon(
            painter,
            "chevron-down" if self.isChecked() else "chevron-right",
            colours.accent if self.hasFocus() else colours.muted,
            mark,
        )
        font = self.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        rect = self.rect().adjusted(1, 0, -side - side // 3, 0)
        elided = painter.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, rect.width()
        )
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
        if self.hasFocus():
            # A focus ring would touch the text, which is aligned with the content below.
            bottom = self.height() - 1.0
            painter.setPen(QPen(QColor(colours.accent), 2.0))
            painter.drawLine(QPointF(1, bottom), QPointF(self.width() - 1, bottom))
        painter.end()
