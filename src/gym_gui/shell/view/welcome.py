"""Welcome: the page a new user sees first: three things to do at once. The centre shows it."""

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
from gym_gui.shell.view.welcome_pictures import (
    Picture,
    paint_lake,
    paint_learning,
    paint_replay,
)
from gym_gui.widgets.styling import blend, scaled_font


class Welcome(QWidget):
    """Cards beside each other where there is room, below each other where there is not."""

    play_chosen = Signal()
    train_chosen = Signal()
    demo_chosen = Signal()
    dismissed = Signal()
    show_at_start_changed = Signal(bool)

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._play = _Card(
            "Play FrozenLake",
            "Cross the ice with the arrow keys. Every step is recorded and can be replayed.",
            paint_lake,
            theme,
        )
        self._train = _Card(
            "Train an agent",
            "Choose an algorithm, press Launch, and watch its curves rise as it learns.",
            paint_learning,
            theme,
        )
        self._demo = _Card(
            "Start the demo run",
            "An agent learns to cross a frozen lake: watch every step of it as it happens.",
            paint_replay,
            theme,
        )
        self._play.clicked.connect(self.play_chosen)
        self._train.clicked.connect(self.train_chosen)
        self._demo.clicked.connect(self.demo_chosen)
        self._show_at_start = QCheckBox("Show this at start")
        self._show_at_start.setChecked(True)
        self._show_at_start.toggled.connect(self.show_at_start_changed)
        skip = QPushButton("Go to the workbench")
        skip.setProperty("role", "quiet")
        skip.setToolTip("Close this page; Help has it again")
        skip.clicked.connect(self.dismissed)

        title = QLabel("Welcome to MOSAIC")
        title.setProperty("role", "title")
        text = QLabel(
            "Play an environment, train an agent on it, look at every step again.\n"
            "What would you like to do first?"
        )
        text.setProperty("role", "muted")
        for label in (title, text):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)

        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        for card in (self._play, self._train, self._demo):
            self._cards.addWidget(card, 1)
        foot = QHBoxLayout()
        foot.addWidget(self._show_at_start)
        foot.addStretch(1)
        foot.addWidget(skip)

        column = QWidget()
        column.setMaximumWidth(line * 64)
        self._column = inner = QVBoxLayout(column)
        inner.addStretch(2)
        inner.addWidget(title)
        inner.addWidget(text)
        inner.addSpacing(line // 2)
        inner.addLayout(self._cards)
        inner.addLayout(foot)
        inner.addStretch(3)
        page = QWidget()
        across = QHBoxLayout(page)
        across.setContentsMargins(0, 0, 0, 0)
        across.addStretch(1)
        across.addWidget(column, 100)
        across.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        self.setFocusProxy(self._play)

    def set_show_at_start(self, is_shown: bool) -> None:
        """What was kept; says nothing of it."""
        self._show_at_start.blockSignals(True)
        self._show_at_start.setChecked(is_shown)
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
            card.set_upright(is_wide)


class _Card(QPushButton):
    """A picture, a title and a sentence: upright, or lying with the picture at the left."""

    def __init__(self, title: str, sentence: str, picture: Picture, theme: ThemeModel) -> None:
        super().__init__(title)
        self._sentence = sentence
        self._picture = picture
        self._theme = theme
        self._is_upright = True
        self.setAccessibleDescription(sentence)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_upright(self, is_upright: bool) -> None:
        if is_upright != self._is_upright:
            self._is_upright = is_upright
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 17, line * 17) if self._is_upright else QSize(line * 26, line * 6)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * (13 if self._is_upright else 17), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        line = self.fontMetrics().height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_lively = self.underMouse() or self.hasFocus()
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        edge = QColor(colours.accent) if is_lively else QColor(colours.line)
        painter.setPen(QPen(edge, 2.0 if self.hasFocus() else 1.0))
        ground = blend(colours.accent, colours.raised, 0.08 if self.isDown() else 0.0)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, 10, 10)
        margin = float(line) if self._is_upright else line * 0.7
        inner = box.adjusted(margin, margin, -margin, -margin)
        picture = QRectF(inner)
        words = QRectF(inner)
        if self._is_upright:
            picture.setHeight(inner.height() * 0.56)
            words.setTop(picture.bottom() + line * 0.9)
        else:
            picture.setWidth(min(inner.height() * 1.5, inner.width() * 0.35))
            words.setLeft(picture.right() + line * 1.2)
        painter.save()
        self._picture(painter, picture, colours)
        painter.restore()
        self._paint_text(painter, words)
        painter.end()

    def _paint_text(self, painter: QPainter, words: QRectF) -> None:
        colours = self._theme.colours
        line = self.fontMetrics().height()
        bold = scaled_font(self.font(), 1.15)
        bold.setBold(True)
        sentence = QRectF(words)
        sentence.setTop(words.top() + line * 1.7)
        wrap = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop
        if not self._is_upright:
            needed = painter.boundingRect(sentence, int(wrap), self._sentence).height()
            drop = max(0.0, (words.height() - line * 1.7 - needed) / 2)
            words = words.translated(0, drop)
            sentence = sentence.translated(0, drop)
        painter.setPen(QColor(colours.muted))
        painter.drawText(sentence, int(wrap), self._sentence)
        painter.setFont(bold)
        painter.setPen(QColor(colours.text))
        painter.drawText(words, int(Qt.AlignmentFlag.AlignTop), self.text())
