"""SecretRow: one key: whether it is set, where it comes from, and setting or removing it."""

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
from gym_gui.settings.view.confirm_strip import ConfirmStrip
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.set_disabled_reason import set_disabled_reason


class SecretRow(QWidget):
    """What is typed is handed on once and forgotten; what is kept is never shown."""

    value_given = Signal(str, str)
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
        self._remove = ConfirmStrip("Remove…", "Remove for good?", "Remove")
        self._input = _KeyInput(secret.name)
        self._problem = QLabel()
        self._problem.setWordWrap(True)
        self._problem.setProperty("tone", "bad")
        head = QHBoxLayout()
        head.setSpacing(line // 2)
        head.addWidget(self._title)
        head.addWidget(self._badge)
        head.addStretch()
        head.addWidget(self._set)
        head.addWidget(self._remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 4)
        layout.addLayout(head)
        layout.addWidget(self._where)
        layout.addWidget(self._input)
        layout.addWidget(self._problem)
        self._input.hide()
        self._set.clicked.connect(self._begin)
        self._input.given.connect(self._on_given)
        self._input.left.connect(self._end)
        self._remove.confirmed.connect(lambda: self.removal_confirmed.emit(self._name))
        self.show_secret(secret, "")

    def show_secret(self, secret: Secret, problem: str) -> None:
        is_plain = secret.title == secret.name
        self._title.setText(secret.name if is_plain else f"{secret.title} · {secret.name}")
        self._badge.show_text(
            "set" if secret.is_set else "not set", "good" if secret.is_set else "plain"
        )
        words = f"{secret.where[:1].upper()}{secret.where[1:]}." if secret.is_set else ""
        self._where.setText(f"{words} {secret.purpose}".strip())
        self._where.setVisible(bool(self._where.text()))
        self._set.setText("Replace…" if secret.is_set else "Set…")
        self._set.setAccessibleName(f"{self._set.text().rstrip('…')} {secret.name}")
        self._remove.setVisible(secret.is_kept)
        self._remove.button.setAccessibleName(f"Remove {secret.name}")
        self._problem.setText(f"✕ {problem}" if problem else "")
        self._problem.setVisible(bool(problem))

    def _begin(self) -> None:
        self._input.show()
        set_disabled_reason(self._set, "Paste the key below.")
        self._input.begin()

    def _on_given(self, value: str) -> None:
        self._end()
        self.value_given.emit(self._name, value)

    def _end(self) -> None:
        self._input.hide()
        set_disabled_reason(self._set, "")
        self._set.setFocus()


class _KeyInput(QWidget):
    """A field that shows dots."""

    given = Signal(str)
    left = Signal()

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
        self._edit.returnPressed.connect(self._give)
        self._save.clicked.connect(self._give)
        cancel.clicked.connect(self._leave)

    def _allow_saving(self, text: str) -> None:
        set_disabled_reason(self._save, "" if text.strip() else "Paste the key first.")

    def begin(self) -> None:
        self._edit.clear()
        self._edit.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self._leave()
        else:
            super().keyPressEvent(event)

    def _give(self) -> None:
        value = self._edit.text().strip()
        self._edit.clear()
        if value:
            self.given.emit(value)

    def _leave(self) -> None:
        self._edit.clear()
        self.left.emit()
