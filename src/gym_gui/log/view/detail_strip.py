"""DetailStrip: one line of the log, whole: the meaning of its code, its run, its traceback."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.log.model.log_filter import LogRecord, Severity
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.fonts import fixed_font
from gym_gui.widgets.icons import keep_icon

_TONES: dict[Severity, Tone] = {
    Severity.DEBUG: "plain",
    Severity.INFO: "plain",
    Severity.WARNING: "warning",
    Severity.ERROR: "bad",
}


class DetailStrip(QWidget):
    """Beside or below the table."""

    closed = Signal()
    copy_wanted = Signal()

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._severity = Badge("", "plain", theme)
        self._where = QLabel()
        self._where.setProperty("role", "muted")
        self._where.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._meaning = QLabel()
        self._meaning.setWordWrap(True)
        self._meaning.setProperty("role", "caption")
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setFont(fixed_font(self.font()))
        self._text.setAccessibleName("The whole line")
        self._text.setTabChangesFocus(True)
        copy = QToolButton()
        keep_icon(copy, "copy", theme, "muted")
        copy.setToolTip("Copy with the lines around it")
        copy.setAccessibleName("Copy with context")
        copy.clicked.connect(self.copy_wanted)
        close = QToolButton()
        keep_icon(close, "close", theme, "muted")
        close.setToolTip("Close (Esc)")
        close.setAccessibleName("Close the details")
        close.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.setSpacing(line // 3)
        head.addWidget(self._severity)
        head.addWidget(self._where, 1)
        head.addWidget(copy)
        head.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 3, line // 2, line // 2)
        layout.setSpacing(line // 3)
        layout.addLayout(head)
        layout.addWidget(self._meaning)
        layout.addWidget(self._text, 1)

    def show_record(self, record: LogRecord, meaning: str) -> None:
        """`meaning` is that of its code, when it is known."""
        self._severity.show_text(record.severity.word, _TONES[record.severity])
        when = f"{record.date_text} {record.time_text}".strip()
        run = f"run {record.run_id}" if record.run_id else ""
        where = " · ".join(part for part in (record.component, record.logger, when, run) if part)
        self._where.setText(where)
        self._where.setToolTip(where)
        self._meaning.setText(f"{record.code}: {meaning}" if meaning else "")
        self._meaning.setVisible(bool(meaning))
        says = f"{record.code} {record.message}".strip()
        self._text.setPlainText(f"{says}\n{record.details}".strip())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 24, line * 9)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 12, line * 6)
