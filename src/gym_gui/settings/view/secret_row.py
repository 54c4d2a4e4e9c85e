"""SecretRow: state and source of one key, with buttons to set and remove it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.model.secrets_model import Secret
from gym_gui.settings.view.field_row import ConfirmStrip
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.styling import set_disabled_reason


class SecretRow(QWidget):
    """Shows a `Secret`. Typed values are emitted once and not stored; saved values are hidden."""

    value_submitted = Signal(str, str)
    removal_confirmed = Signal(str)

    def __init__(self, secret: Secret, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = secret.name
        line = self.fontMetrics().height()
        self._title = QLabel()
        self._badge = Badge("", "plain", theme)
        self._where = QLabel()
        self._where.setProperty("role", "caption")
        self._where.setWordWrap(True)
        self._where.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._set = QPushButton()
        self._remove = ConfirmStrip("Remove…", "Remove this key?", "Remove")
        self._input = _KeyInput(secret.name)
        self._problem = QLabel()
        self._problem.setWordWrap(True)
        self._problem.setProperty("tone", "bad")
        header = QHBoxLayout()
        header.setSpacing(line // 2)
        header.addWidget(self._title)
        header.addWidget(self._badge)
        header.addStretch()
        header.addWidget(self._set)
        header.addWidget(self._remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 4)
        layout.addLayout(header)
        layout.addWidget(self._where)
        layout.addWidget(self._input)
        layout.addWidget(self._problem)
        self._input.hide()
        self._set.clicked.connect(self._start_input)
        self._input.submitted.connect(self._on_submitted)
        self._input.cancelled.connect(self._close_input)
        self._remove.confirmed.connect(lambda: self.removal_confirmed.emit(self._name))
        self.show_secret(secret, "")

    def show_secret(self, secret: Secret, problem: str) -> None:
        is_plain = secret.title == secret.name
        self._title.setText(secret.name if is_plain else f"{secret.title} · {secret.name}")
        self._badge.show_text(
            "set" if secret.is_set else "not set", "good" if secret.is_set else "plain"
        )
        source = f"{secret.where[:1].upper()}{secret.where[1:]}." if secret.is_set else ""
        self._where.setText(f"{source} {secret.purpose}".strip())
        self._where.setVisible(bool(self._where.text()))
        self._set.setText("Replace…" if secret.is_set else "Set…")
        self._set.setAccessibleName(f"{self._set.text().rstrip('…')} {secret.name}")
        self._remove.setVisible(secret.is_stored)
        self._remove.button.setAccessibleName(f"Remove {secret.name}")
        self._problem.setText(f"✕ {problem}" if problem else "")
        self._problem.setVisible(bool(problem))

    def _start_input(self) -> None:
        self._input.show()
        set_disabled_reason(self._set, "Paste the key below.")
        self._input.start()

    def _on_submitted(self, value: str) -> None:
        self._close_input()
        self.value_submitted.emit(self._name, value)

    def _close_input(self) -> None:
        self._input.hide()
        set_disabled_reason(self._set, "")
        self._set.setFocus()


class _KeyInput(QWidget):
    """A password field with buttons."""

    submitted = Signal(str)
    cancelled = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self._edit = QLineEdit()
        self._edit.setEchoMode(QLineEdit.EchoMode.Password)
        self._edit.setPlaceholderText("Paste the key")
        self._edit.setAccessibleName(f"Value of {name}")
        self._save = QPushButton("Save")
        self._save.setProperty("role", "primary")
        self._allow_saving("")
        cancel = QPushButton("Cancel")
        layout = QGridLayout(self)
        layout.setContentsMargins(0, self.fontMetrics().height() // 4, 0, 0)
        layout.addWidget(self._edit, 0, 0)
        layout.addWidget(self._save, 0, 1)
        layout.addWidget(cancel, 0, 2)
        self._edit.textChanged.connect(self._allow_saving)
        self._edit.returnPressed.connect(self._submit)
        self._save.clicked.connect(self._submit)
        cancel.clicked.connect(self._cancel)

    def _allow_saving(self, text: str) -> None:
        set_disabled_reason(self._save, "" if text.strip() else "Paste the key first.")

    def start(self) -> None:
        self._edit.clear()
        self._edit.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self._cancel()
        else:
            super().keyPressEvent(event)

    def _submit(self) -> None:
        value = self._edit.text().strip()
        self._edit.clear()
        if value:
            self.submitted.emit(value)

    def _cancel(self) -> None:
        self._edit.clear()
        self.cancelled.emit()
