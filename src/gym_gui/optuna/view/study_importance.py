"""StudyImportance: parameter importance as bars."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gym_gui.optuna.model.study_model import StudyModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.styling import blend

_ROW = 1.75
_MAX_NAME_SHARE = 0.42


class StudyImportance(QWidget):
    """Shows `StudyModel.importance`: bars and an explanation."""

    param_selected = Signal(str)

    def __init__(self, model: StudyModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.bars = ImportanceBars(theme)
        self.bars.param_selected.connect(self.param_selected)
        self._caption = QLabel()
        self._caption.setWordWrap(True)
        self._caption.setProperty("role", "caption")
        scroll = QScrollArea()
        scroll.setWidget(self.bars)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll = scroll
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addWidget(scroll, 1)
        layout.addWidget(self._caption)

    def update_bars(self) -> None:
        self.bars.show_shares([(item.parameter, item.share) for item in self._model.importance])
        self._scroll.setVisible(bool(self._model.importance))
        self._caption.setText(self._model.importance_text)


class ImportanceBars(QWidget):
    """Arrow keys move the cursor; Enter or a click selects a parameter."""

    param_selected = Signal(str)

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shares: list[tuple[str, float]] = []
        self._current = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setToolTip("Click a parameter to plot its values")
        theme.changed.connect(self.update)

    def show_shares(self, shares: list[tuple[str, float]]) -> None:
        if shares == self._shares:
            return
        self._shares = shares
        self._current = min(self._current, max(0, len(shares) - 1))
        text = ", ".join(f"{name} {share:.0%}" for name, share in shares)
        self.setAccessibleName(f"Parameter importance: {text}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 16, round(line * _ROW * len(self._shares)))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 8, self.sizeHint().height())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        row = int(event.position().y() / (self.fontMetrics().height() * _ROW))
        if row < len(self._shares):
            self._current = row
            self.update()
            self.param_selected.emit(self._shares[row][0])

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        last = len(self._shares) - 1
        match event.key():
            case Qt.Key.Key_Down if self._current < last:
                self._current += 1
            case Qt.Key.Key_Up if self._current > 0:
                self._current -= 1
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Space if last >= 0:
                self.param_selected.emit(self._shares[self._current][0])
            case _:
                event.ignore()
                return
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours, metrics = self._theme.colours, self.fontMetrics()
        line = metrics.height()
        gap, row = line // 2, line * _ROW
        max_width = (
            max((metrics.horizontalAdvance(name) for name, _ in self._shares), default=0) + 2
        )
        names = min(max_width, round(self.width() * _MAX_NAME_SHARE))
        numbers = metrics.horizontalAdvance("100 %")
        track_width = max(1.0, self.width() - names - numbers - 3.0 * gap)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, (name, share) in enumerate(self._shares):
            top = index * row
            if index == self._current and self.hasFocus():
                painter.fillRect(QRectF(0, top, self.width(), row), QColor(colours.selection))
            painter.setPen(QColor(colours.text))
            label = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, names)
            middle = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(gap / 2, top, names, row), middle, label)
            track = QRectF(names + gap * 1.5, top + row * 0.3, track_width, row * 0.4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(blend(colours.line, colours.surface, 0.5))
            painter.drawRoundedRect(track, 3, 3)
            if share > 0:
                track.setWidth(max(3.0, track_width * min(1.0, share)))
                painter.setBrush(QColor(colours.accent))
                painter.drawRoundedRect(track, 3, 3)
            painter.setPen(QColor(colours.muted))
            rect = QRectF(self.width() - numbers - gap / 2, top, numbers, row)
            painter.drawText(rect, middle | Qt.AlignmentFlag.AlignRight, f"{share:.0%}"[:-1] + " %")
        painter.end()
