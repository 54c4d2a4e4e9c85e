"""Snackbar: passing messages at the foot of the window, one at a time. Made by the main window."""

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

_STAYS_MS = 6_000
_BAD_STAYS_MS = 12_000
_MAX_WAITING = 10


class Snackbar(QFrame):
    """Never takes the keyboard; Tab reaches its buttons, Esc in it closes it."""

    def __init__(self, notices: Notices, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: Notice | None = None
        self._focus_before: QWidget | None = None
        self._waiting: deque[Notice] = deque(maxlen=_MAX_WAITING)
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
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.timeout.connect(self._on_time)
        self.hide()
        parent.installEventFilter(self)
        notices.posted.connect(self.post)
        notices.withdrawn.connect(self.withdraw)
        theme.changed.connect(self.update)

    @property
    def shown(self) -> Notice | None:
        return self._shown

    @property
    def waiting(self) -> int:
        """How many come after the one that is shown."""
        return len(self._waiting)

    def post(self, notice: Notice) -> None:
        """Shown now, or after those before it. The same words once more only stay longer."""
        if notice.topic:
            self._forget(notice.topic)
            if self._shown is not None and self._shown.topic != notice.topic:
                self._waiting.appendleft(self._shown)
            self._show(notice)
        elif self._shown is None or notice.message == self._shown.message:
            self._show(notice)
        elif all(notice.message != each.message for each in self._waiting):
            self._waiting.append(notice)

    def withdraw(self, topic: str) -> None:
        """Nothing is said on the topic any more."""
        self._forget(topic)
        if self._shown is not None and self._shown.topic == topic:
            self.dismiss()

    def dismiss(self) -> None:
        """On to the next, if there is one."""
        self._clock.stop()
        if self._waiting:
            self._show(self._waiting.popleft())
            return
        self._shown = None
        had_keyboard = self._has_keyboard()
        self.hide()
        before, self._focus_before = self._focus_before, None
        if had_keyboard and before is not None and isValid(before):
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def reach(self) -> None:
        """For a command: the keyboard goes to its button, and back when it is closed."""
        if self._shown is not None and not self._has_keyboard():
            self._focus_before = QApplication.focusWidget()
            button = self._action if self._action.isVisible() else self._close
            button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.Resize and self._shown is not None:
            self._place()
        return super().eventFilter(watched, event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._wind_up()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """With its window too: what nobody can read does not pass."""
        self._clock.stop()
        super().hideEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 - Qt's name
        self._clock.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        self._wind_up()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        tone = "accent" if self._shown is None or self._shown.tone == "plain" else self._shown.tone
        ink = str(getattr(colours, tone))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(blend(ink, colours.line, 0.5), 1.0))
        ground = colours.raised if colours.is_dark else colours.surface
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(box, 8, 8)
        # A stripe in the colour of the tone, inside the rounded corner.
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ink))
        painter.drawRoundedRect(QRectF(4, 6, 3, self.height() - 12), 1.5, 1.5)
        painter.end()

    def _show(self, notice: Notice) -> None:
        self._shown = notice
        self._mark.show_tone(notice.tone)
        self._message.setText(notice.message)
        self._action.setText(notice.action)
        self._action.setVisible(bool(notice.action))
        self.setAccessibleName(notice.message)
        self._place()
        self.show()
        self.raise_()
        self._announce(notice)
        self._wind_up()

    def _announce(self, notice: Notice) -> None:
        """Screen readers say it without the keyboard having to go there."""
        if not QAccessible.isActive():
            return
        event = QAccessibleAnnouncementEvent(self, notice.message)
        politeness = QAccessible.AnnouncementPoliteness
        event.setPoliteness(politeness.Assertive if notice.tone == "bad" else politeness.Polite)
        QAccessible.updateAccessibility(event)

    def _wind_up(self) -> None:
        if self._shown is not None and not self.underMouse():
            usual_ms = _BAD_STAYS_MS if self._shown.tone == "bad" else _STAYS_MS
            self._clock.start(self._shown.stays_ms or usual_ms)

    def _on_time(self) -> None:
        if self._has_keyboard():
            self._wind_up()
        else:
            self.dismiss()

    def _on_action(self) -> None:
        notice = self._shown
        self.dismiss()
        if notice is not None and notice.run is not None:
            notice.run()

    def _forget(self, topic: str) -> None:
        waiting = (each for each in self._waiting if each.topic != topic)
        self._waiting = deque(waiting, maxlen=_MAX_WAITING)

    def _has_keyboard(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def _place(self) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        line = self.fontMetrics().height()
        foot = parent.statusBar().height() if isinstance(parent, QMainWindow) else 0
        widest = max(min(parent.width() - 2 * line, 42 * line), 10 * line)
        words = self.fontMetrics().horizontalAdvance(self._message.text())
        beside = self._close.sizeHint().width() + 7 * line
        if self._shown is not None and self._shown.action:
            beside += self._action.sizeHint().width()
        width = min(widest, max(words + beside, 16 * line))
        height = self.heightForWidth(width)
        self.setGeometry(
            (parent.width() - width) // 2, parent.height() - foot - height - line, width, height
        )
