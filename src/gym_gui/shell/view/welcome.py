"""Welcome: the start page, with three cards for the first actions."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view.welcome_images import (
    ImagePainter,
    paint_lake,
    paint_learning,
    paint_replay,
)
from gym_gui.widgets.styling import blend, scaled_font


class Welcome(QWidget):
    """Cards are in a row, or in a column in a narrow window."""

    play_requested = Signal()
    train_requested = Signal()
    demo_requested = Signal()
    dismissed = Signal()
    show_at_start_changed = Signal(bool)

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._play = _Card(
            "Play FrozenLake",
            "Cross the ice with the arrow keys. Every step is recorded for replay.",
            paint_lake,
            theme,
        )
        self._train = _Card(
            "Train an agent",
            "Select an algorithm, press Launch and watch the learning curves.",
            paint_learning,
            theme,
        )
        self._demo = _Card(
            "Start demo run",
            "Train an agent on FrozenLake and watch every step live.",
            paint_replay,
            theme,
        )
        self._play.clicked.connect(self.play_requested)
        self._train.clicked.connect(self.train_requested)
        self._demo.clicked.connect(self.demo_requested)
        self._show_at_start = QCheckBox("Show at start")
        self._show_at_start.setChecked(True)
        self._show_at_start.toggled.connect(self.show_at_start_changed)
        skip = QPushButton("Skip")
        skip.setProperty("role", "quiet")
        skip.setToolTip("Close this page. Reopen it from the Help menu")
        skip.clicked.connect(self.dismissed)

        title = QLabel("Welcome to MOSAIC")
        title.setProperty("role", "title")
        text = QLabel(
            "Play an environment, train an agent and replay every step.\nSelect a first action."
        )
        text.setProperty("role", "muted")
        for label in (title, text):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)

        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        for card in (self._play, self._train, self._demo):
            self._cards.addWidget(card, 1)
        footer = QHBoxLayout()
        footer.addWidget(self._show_at_start)
        footer.addStretch(1)
        footer.addWidget(skip)

        column = QWidget()
        column.setMaximumWidth(line * 64)
        self._column = inner = QVBoxLayout(column)
        inner.addStretch(2)
        inner.addWidget(title)
        inner.addWidget(text)
        inner.addSpacing(line // 2)
        inner.addLayout(self._cards)
        inner.addLayout(footer)
        inner.addStretch(3)
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(column, 100)
        row.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        self.setFocusProxy(self._play)

    def set_show_at_start(self, is_enabled: bool) -> None:
        """Set the saved value without emitting a signal."""
        self._show_at_start.blockSignals(True)
        self._show_at_start.setChecked(is_enabled)
        self._show_at_start.blockSignals(False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.fontMetrics().height() * 48
        direction = QBoxLayout.Direction
        self._cards.setDirection(direction.LeftToRight if is_wide else direction.TopToBottom)
        line = self.fontMetrics().height()
        edge = line * 2 if is_wide else line
        self._cards.setSpacing(line if is_wide else line * 2 // 3)
        self._column.setContentsMargins(edge, edge, edge, edge)
        self._column.setSpacing(line if is_wide else line * 3 // 4)
        for card in (self._play, self._train, self._demo):
            card.set_vertical(is_wide)


class _Card(QPushButton):
    """An image, a title and a description; the image is above or to the left of the text."""

    def __init__(
        self, title: str, description: str, paint_image: ImagePainter, theme: ThemeModel
    ) -> None:
        super().__init__(title)
        self._description = description
        self._paint_image = paint_image
        self._theme = theme
        self._is_vertical = True
        self.setAccessibleDescription(description)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_vertical(self, is_vertical: bool) -> None:
        if is_vertical != self._is_vertical:
            self._is_vertical = is_vertical
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 17, line * 17) if self._is_vertical else QSize(line * 26, line * 6)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * (13 if self._is_vertical else 17), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        line = self.fontMetrics().height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_highlighted = self.underMouse() or self.hasFocus()
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        edge = QColor(colours.accent) if is_highlighted else QColor(colours.line)
        painter.setPen(QPen(edge, 2.0 if self.hasFocus() else 1.0))
        background = blend(colours.accent, colours.raised, 0.08 if self.isDown() else 0.0)
        painter.setBrush(background)
        painter.drawRoundedRect(box, 10, 10)
        margin = float(line) if self._is_vertical else line * 0.7
        inner = box.adjusted(margin, margin, -margin, -margin)
        image_rect = QRectF(inner)
        text_rect = QRectF(inner)
        if self._is_vertical:
            image_rect.setHeight(inner.height() * 0.56)
            text_rect.setTop(image_rect.bottom() + line * 0.9)
        else:
            image_rect.setWidth(min(inner.height() * 1.5, inner.width() * 0.35))
            text_rect.setLeft(image_rect.right() + line * 1.2)
        painter.save()
        self._paint_image(painter, image_rect, colours)
        painter.restore()
        self._paint_text(painter, text_rect)
        painter.end()

    def _paint_text(self, painter: QPainter, text_rect: QRectF) -> None:
        colours = self._theme.colours
        line = self.fontMetrics().height()
        bold = scaled_font(self.font(), 1.15)
        bold.setBold(True)
        description = QRectF(text_rect)
        description.setTop(text_rect.top() + line * 1.7)
        wrap = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop
        if not self._is_vertical:
            needed = painter.boundingRect(description, int(wrap), self._description).height()
            offset = max(0.0, (text_rect.height() - line * 1.7 - needed) / 2)
            text_rect = text_rect.translated(0, offset)
            description = description.translated(0, offset)
        painter.setPen(QColor(colours.muted))
        painter.drawText(description, int(wrap), self._description)
        painter.setFont(bold)
        painter.setPen(QColor(colours.text))
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignTop), self.text())
