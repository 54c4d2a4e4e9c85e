"""Keys: those that workers ask for, and any other one by its name."""

from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.model.secrets_model import SecretsModel
from gym_gui.settings.view.field_row import FieldRow
from gym_gui.settings.view.secret_row import SecretRow
from gym_gui.settings.view.section_frame import SectionFrame
from gym_gui.widgets.set_disabled_reason import set_disabled_reason


class SecretsSection(SectionFrame):
    def __init__(
        self, model: SecretsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "Keys",
            "Kept in trainer/secrets.env of this home, readable by you alone, and given only to"
            " workers that ask for them. What is kept is never shown.",
            parent,
        )
        self._model = model
        self._theme = theme
        self._rows: dict[str, SecretRow] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(self.fontMetrics().height())
        self._waiting = QLabel("The daemon tells which keys there are as soon as it answers.")
        self._waiting.setProperty("role", "muted")
        self.add(self._waiting)
        self.add(self._list)
        self.add(self._other_key())
        model.changed.connect(self._show)
        self._show()

    def _other_key(self) -> FieldRow:
        place = QWidget()
        self._name = QLineEdit()
        self._name.setPlaceholderText("NAME_OF_THE_KEY")
        self._name.setAccessibleName("Name of another key")
        self._value = QLineEdit()
        self._value.setEchoMode(QLineEdit.EchoMode.Password)
        self._value.setPlaceholderText("Paste the key")
        self._value.setAccessibleName("Value of another key")
        add = QPushButton("Add")
        add.clicked.connect(self._add)
        self._value.returnPressed.connect(self._add)
        layout = QHBoxLayout(place)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._name)
        layout.addWidget(self._value)
        layout.addWidget(add)
        place.setFocusProxy(self._name)
        self._other = FieldRow(
            "Another key",
            place,
            "For a worker of your own: the name of the environment variable that it reads.",
        )
        return self._other

    def _add(self) -> None:
        name, value = self._name.text().strip().upper(), self._value.text().strip()
        if not (name.isascii() and name.isidentifier()) or not value:
            self._other.show_problem(
                "Give a name of letters, digits and _, and the key itself beside it."
            )
            return
        self._other.show_problem("")
        self._name.clear()
        self._value.clear()
        self._model.keep(name, value)

    def _show(self) -> None:
        self._waiting.setVisible(not self._model.is_known)
        set_disabled_reason(
            self._other, "" if self._model.is_known else "The daemon does not answer."
        )
        known = {secret.name for secret in self._model.secrets}
        for name in [name for name in self._rows if name not in known]:
            self._rows.pop(name).deleteLater()
        for at, secret in enumerate(self._model.secrets):
            row = self._rows.get(secret.name)
            if row is None:
                row = self._rows[secret.name] = SecretRow(secret, self._theme)
                row.value_given.connect(self._model.keep)
                row.removal_confirmed.connect(self._model.remove)
                self._list.insertWidget(at, row)
            row.show_secret(secret, self._model.problems.get(secret.name, ""))
        strange = [text for name, text in self._model.problems.items() if name not in known]
        if strange:
            self._other.show_problem(strange[-1])
