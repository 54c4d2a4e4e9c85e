"""Snackbar: shows the notices at the bottom of the window, one at a time."""

from collections import deque

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QEnterEvent,
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QPushButton,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import ToneMark
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.styling import blend

_DURATION_MS = 6_000
_ERROR_DURATION_MS = 12_000
_MAX_PENDING = 10


class Snackbar(QFrame):
    """Does not take the focus; Tab reaches its buttons, Esc closes it."""

    def __init__(self, notices: Notices, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._current: Notice | None = None
        self._previous_focus: QWidget | None = None
        self._pending: deque[Notice] = deque(maxlen=_MAX_PENDING)
        line = self.fontMetrics().height()
        self._mark = ToneMark(theme)
        self._message = QLabel()
        self._message.setWordWrap(True)
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._action = QPushButton()
        self._action.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._action.clicked.connect(self._on_action)
        self._close = QToolButton()
        self._close.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._close.setAccessibleName("Close message")
        self._close.setToolTip("Close message (Esc)")
        self._close.setIconSize(QSize(line, line))
        set_icon(self._close, "close", theme, "muted")
        self._close.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line, line // 2, line // 2, line // 2)
        layout.setSpacing(line * 2 // 3)
        layout.addWidget(self._mark)
        layout.addWidget(self._message, 1)
        layout.addWidget(self._action)
        layout.addWidget(self._close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        self.hide()
        parent.installEventFilter(self)
        notices.posted.connect(self.post)
        notices.withdrawn.connect(self.withdraw)
        theme.changed.connect(self.update)

    @property
    def current(self) -> Notice | None:
        return self._current

    @property
    def pending(self) -> int:
        """Number of notices after the current one."""
        return len(self._pending)

    def post(self, notice: Notice) -> None:
        """Show a notice now or after the pending ones; a repeated message restarts the timer."""
        if notice.topic:
            self._remove_pending(notice.topic)
            if self._current is not None and self._current.topic != notice.topic:
                self._pending.appendleft(self._current)
            self._show(notice)
        elif self._current is None or notice.message == self._current.message:
            self._show(notice)
        elif all(notice.message != other.message for other in self._pending):
            self._pending.append(notice)

    def withdraw(self, topic: str) -> None:
        """Remove the notices of a topic."""
        self._remove_pending(topic)
        if self._current is not None and self._current.topic == topic:
            self.dismiss()

    def dismiss(self) -> None:
        """Close the current notice and show the next one."""
        self._timer.stop()
        if self._pending:
            self._show(self._pending.popleft())
            return
        self._current = None
        had_focus = self._has_focus()
        self.hide()
        previous, self._previous_focus = self._previous_focus, None
        if had_focus and previous is not None and isValid(previous):
            previous.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_button(self) -> None:
        """Focus the button; closing the notice restores the previous focus."""
        if self._current is not None and not self._has_focus():
            self._previous_focus = QApplication.focusWidget()
            button = self._action if self._action.isVisible() else self._close
            button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.Resize and self._current is not None:
            self._update_geometry()
        return super().eventFilter(watched, event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._restart_timer()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Stop the timer while the notice is not visible."""
        self._timer.stop()
        super().hideEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 - Qt's name
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        self._restart_timer()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        tone = (
            "accent"
            if self._current is None or self._current.tone == "plain"
            else self._current.tone
        )
        ink = str(getattr(colours, tone))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(blend(ink, colours.line, 0.5), 1.0))
        background = colours.raised if colours.is_dark else colours.surface
        painter.setBrush(QColor(background))
        painter.drawRoundedRect(box, 8, 8)
        # A stripe in the colour of the tone.
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ink))
        painter.drawRoundedRect(QRectF(4, 6, 3, self.height() - 12), 1.5, 1.5)
        painter.end()

    def _show(self, notice: Notice) -> None:
        self._current = notice
        self._mark.show_tone(notice.tone)
        self._message.setText(notice.message)
        self._action.setText(notice.action)
        self._action.setVisible(bool(notice.action))
        self.setAccessibleName(notice.message)
        self._update_geometry()
        self.show()
        self.raise_()
        self._announce(notice)
        self._restart_timer()

    def _announce(self, notice: Notice) -> None:
        """Announce the message to screen readers."""
        if not QAccessible.isActive():
            return
        event = QAccessibleAnnouncementEvent(self, notice.message)
        politeness = QAccessible.AnnouncementPoliteness
        event.setPoliteness(politeness.Assertive if notice.tone == "bad" else politeness.Polite)
        QAccessible.updateAccessibility(event)

    def _restart_timer(self) -> None:
        if self._current is not None and not self.underMouse():
            default_ms = _ERROR_DURATION_MS if self._current.tone == "bad" else _DURATION_MS
            self._timer.start(self._current.duration_ms or default_ms)

    def _on_timeout(self) -> None:
        if self._has_focus():
            self._restart_timer()
        else:
            self.dismiss()

    def _on_action(self) -> None:
        notice = self._current
        self.dismiss()
        if notice is not None and notice.run is not None:
            notice.run()

    def _remove_pending(self, topic: str) -> None:
        pending = (notice for notice in self._pending if notice.topic != topic)
        self._pending = deque(pending, maxlen=_MAX_PENDING)

    def _has_focus(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def _update_geometry(self) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        line = self.fontMetrics().height()
        status_height = parent.statusBar().height() if isinstance(parent, QMainWindow) else 0
        max_width = max(min(parent.width() - 2 * line, 42 * line), 10 * line)
        text_width = self.fontMetrics().horizontalAdvance(self._message.text())
        controls_width = self._close.sizeHint().width() + 7 * line
        if self._current is not None and self._current.action:
            controls_width += self._action.sizeHint().width()
        width = min(max_width, max(text_width + controls_width, 16 * line))
        height = self.heightForWidth(width)
        self.setGeometry(
            (parent.width() - width) // 2,
            parent.height() - status_height - height - line,
            width,
            height,
        )
