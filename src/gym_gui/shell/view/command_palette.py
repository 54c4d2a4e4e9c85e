"""CommandPalette: finds commands by a few letters of their names."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view.command_list import CommandDelegate, CommandList, name_of
from gym_gui.widgets.icons import draw_icon, themed_icon
from gym_gui.widgets.styling import blend

_MAX_RECENT = 8
_MAX_ROWS = 11
_MOVES = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -_MAX_ROWS,
    Qt.Key.Key_PageDown: _MAX_ROWS,
}


class CommandPalette(QFrame):
    """An overlay of its parent, used with Up, Down, Enter and Esc; a click outside closes it."""

    triggered = Signal(str)
    """The name of the triggered action: its `objectName`, or its text."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._actions: Sequence[QAction] = ()
        self._recent: list[str] = []
        self._previous_focus: QWidget | None = None
        self.setAccessibleName("Command palette")
        self._query = QLineEdit()
        self._query.setPlaceholderText("Type a few letters of a command")
        self._query.setAccessibleName("Search commands")
        self._query.addAction(
            themed_icon("search", theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self._query.installEventFilter(self)
        self._list = CommandList()
        self._delegate = CommandDelegate(theme)
        self._rows = QListView()
        self._rows.setModel(self._list)
        self._rows.setItemDelegate(self._delegate)
        self._rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._rows.setMouseTracking(True)
        self._rows.setUniformItemSizes(True)
        self._rows.setAccessibleName("Commands")
        self._rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._no_match = QLabel("No matching commands.")
        self._no_match.setProperty("role", "muted")
        self._no_match.setAlignment(Qt.AlignmentFlag.AlignCenter)
        line = self.fontMetrics().height()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line * 2 // 3, line * 2 // 3, line // 2)
        layout.setSpacing(line // 2)
        layout.addWidget(self._query)
        layout.addWidget(self._rows)
        layout.addWidget(self._no_match)
        self.hide()
        self._query.textChanged.connect(self._search)
        self._rows.entered.connect(self._rows.setCurrentIndex)
        self._rows.clicked.connect(lambda _: self._trigger())
        parent.installEventFilter(self)
        theme.changed.connect(self._rows.viewport().update)

    @property
    def recent(self) -> tuple[str, ...]:
        """Names of the most recently used actions, newest first."""
        return tuple(self._recent)

    def set_recent(self, recent: Sequence[str]) -> None:
        """Restore the saved names."""
        self._recent = list(recent)[:_MAX_RECENT]

    def open_with(self, actions: Sequence[QAction]) -> None:
        """Open the palette for these actions."""
        if not self.isVisible():
            self._previous_focus = QApplication.focusWidget()
        self._actions = actions
        self._query.clear()
        self._search("")
        self.show()
        self.raise_()
        self._query.setFocus(Qt.FocusReason.PopupFocusReason)
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def dismiss(self) -> None:
        """Close the palette and restore the focus."""
        if self.isHidden():
            return
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]
        self.hide()
        previous, self._previous_focus = self._previous_focus, None
        if previous is not None and isValid(previous):
            previous.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        kind = event.type()
        if watched is self.parent() and kind == QEvent.Type.Resize and self.isVisible():
            self._update_geometry()
        elif watched is self._query and isinstance(event, QKeyEvent):
            if kind == QEvent.Type.KeyPress and self._handle_key(event):
                return True
        elif kind == QEvent.Type.MouseButtonPress and self._is_outside(watched):
            self.dismiss()
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(blend(colours.text, colours.line, 0.25), 1.0))
        painter.setBrush(QColor(colours.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        painter.end()

    def _search(self, query: str) -> None:
        self._list.find(self._actions, query, self._recent)
        has_rows = self._list.rowCount() > 0
        self._rows.setVisible(has_rows)
        self._no_match.setVisible(not has_rows)
        if has_rows:
            self._rows.setCurrentIndex(self._list.index(0))
        self._update_geometry()

    def _handle_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.dismiss()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._trigger()
        elif key in _MOVES and self._list.rowCount():
            last = self._list.rowCount() - 1
            row = self._rows.currentIndex().row() + _MOVES[key]
            if abs(_MOVES[key]) == 1:
                row %= last + 1
            self._rows.setCurrentIndex(self._list.index(max(0, min(row, last))))
        else:
            return key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        return True

    def _trigger(self) -> None:
        """Close the palette, then trigger the current action with the focus restored."""
        row = self._rows.currentIndex().row()
        if row < 0 or not self._list.hit(row).action.isEnabled():
            return
        action = self._list.hit(row).action
        name = name_of(action)
        self._recent = [name, *(other for other in self._recent if other != name)][:_MAX_RECENT]
        self.dismiss()
        action.trigger()
        self.triggered.emit(name)

    def _is_outside(self, watched: QObject) -> bool:
        return isinstance(watched, QWidget) and not (watched is self or self.isAncestorOf(watched))

    def _update_geometry(self) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        line = self.fontMetrics().height()
        width = min(parent.width() - 2 * line, 46 * line)
        rows = max(1, min(self._list.rowCount(), _MAX_ROWS))
        row_height = self._rows.sizeHintForRow(0) if self._list.rowCount() else 2 * line
        self._rows.setFixedHeight(rows * row_height + 4)
        top = min(4 * line, parent.height() // 10)
        height = min(self.sizeHint().height(), parent.height() - top - line)
        self.setGeometry((parent.width() - width) // 2, top, width, height)


class CommandSearchButton(QPushButton):
    """A button in the form of a search field, for the corner of the menu bar."""

    def __init__(
        self, theme: ThemeModel, shortcut: QKeySequence, parent: QWidget | None = None
    ) -> None:
        super().__init__("Search commands…", parent)
        self._theme = theme
        self._shortcut = shortcut.toString(QKeySequence.SequenceFormat.NativeText)
        self.setToolTip(f"Find and run a command ({self._shortcut})")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        text_width = metrics.horizontalAdvance(f"{self.text()}{self._shortcut}")
        return QSize(text_width + 7 * metrics.height(), round(metrics.height() * 1.8))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        line = self.fontMetrics().height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_highlighted = self.underMouse() or self.hasFocus()
        edge = (
            QColor(colours.accent) if self.hasFocus() else blend(colours.text, colours.line, 0.08)
        )
        painter.setPen(QPen(edge, 1.0))
        painter.setBrush(QColor(colours.raised))
        # A margin to the edge of the window.
        field = self.rect().adjusted(0, 2, -line // 2, -2)
        painter.drawRoundedRect(QRectF(field).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        ink = colours.text if is_highlighted else colours.muted
        icon_rect = QRectF(line * 0.5, (self.height() - line) / 2, line, line)
        draw_icon(painter, "search", ink, icon_rect)
        painter.setPen(QColor(ink))
        text_rect = field.adjusted(round(line * 1.8), 0, -round(line * 0.6), 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(text_rect, middle | Qt.AlignmentFlag.AlignLeft, self.text())
        painter.setPen(QColor(colours.muted))
        painter.drawText(text_rect, middle | Qt.AlignmentFlag.AlignRight, self._shortcut)
        painter.end()
