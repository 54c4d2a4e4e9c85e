"""ConfigurationBar: presets, the configuration as JSON, and the way back to the defaults."""

import json
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QShortcut
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.training.model.training_form import TrainingForm
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_JSON = "Run configuration (*.json)"


class ConfigurationBar(QWidget):
    """A name for a preset is asked for in a line below, not in a dialog."""

    def __init__(self, form: TrainingForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self.presets = QPushButton("Presets")
        self.json = QPushButton("JSON")
        self.reset = QPushButton("Reset")
        self.name = QLineEdit()
        self.save = QPushButton("Save")
        self._naming = QWidget()
        self._build()
        self.reset.clicked.connect(form.reset)
        self.save.clicked.connect(self._save)
        self.name.returnPressed.connect(self._save)
        leave = QShortcut(Qt.Key.Key_Escape, self._naming, self._leave_naming)
        leave.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        form.presets.changed.connect(self._fill_presets)
        form.agent_changed.connect(self._show)
        form.document_changed.connect(self._show)
        self._fill_presets()
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self.presets.setMenu(QMenu(self.presets))
        self.presets.menu().setToolTipsVisible(True)
        self.reset.setToolTip("Everything that was changed back to its default")
        self.presets.setToolTip("Settings that were kept for this worker and environment")
        menu = QMenu(self.json)
        menu.addAction("Copy as JSON", self._copy)
        menu.addAction("Paste JSON", self._paste)
        menu.addSeparator()
        menu.addAction("Import from a file…", self._import)
        menu.addAction("Export to a file…", self._export)
        self.json.setMenu(menu)
        self.json.setToolTip("The whole configuration, to be copied, shared or kept")
        self.name.setPlaceholderText("Name of the preset")
        self.name.setAccessibleName("Name of the preset")
        line = QHBoxLayout()
        line.setSpacing(em // 2)
        for button in (self.presets, self.json, self.reset):
            line.addWidget(button, 1)
        naming = QHBoxLayout(self._naming)
        naming.setContentsMargins(0, 0, 0, 0)
        naming.setSpacing(em // 2)
        naming.addWidget(self.name, 1)
        naming.addWidget(self.save)
        self._naming.setVisible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addLayout(line)
        layout.addWidget(self._naming)

    def _show(self) -> None:
        why_not = "" if self._form.agent is not None else "Choose an agent first."
        changed = self._form.changed_count
        for button in (self.presets, self.json):
            set_disabled_reason(button, why_not)
        set_disabled_reason(
            self.reset, why_not or ("" if changed else "Everything has its default already.")
        )
        self.reset.setText(f"Reset {changed}" if changed else "Reset")

    def _fill_presets(self) -> None:
        menu = self.presets.menu()
        menu.clear()
        for name in self._form.presets.names:
            menu.addAction(name, partial(self._form.load_preset, name))
        if not self._form.presets.names:
            none = menu.addAction("None yet for this worker and environment")
            none.setToolTip("What is saved as a preset is listed here.")
            none.setEnabled(False)
        menu.addSeparator()
        menu.addAction("Save as preset…", self._ask_name)
        if self._form.presets.names:
            doomed = menu.addMenu("Delete a preset")
            for name in self._form.presets.names:
                doomed.addAction(name, partial(self._form.presets.delete, name))

    def _ask_name(self) -> None:
        target = self._form.target
        self.name.setText(f"{target.env_id}-{target.algo}".replace("/", "-"))
        self._naming.setVisible(True)
        self.name.setFocus()
        self.name.selectAll()

    def _save(self) -> None:
        if self.name.text().strip():
            self._form.save_preset(self.name.text())
            self._leave_naming()

    def _leave_naming(self) -> None:
        self.presets.setFocus()
        self._naming.setVisible(False)

    def _text(self) -> str:
        return json.dumps(self._form.document, indent=2, ensure_ascii=False) + "\n"

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text())

    def _paste(self) -> None:
        self._form.paste(QGuiApplication.clipboard().text())

    def _import(self) -> None:
        dialog = self._dialog("Import a configuration", QFileDialog.AcceptMode.AcceptOpen)
        dialog.fileSelected.connect(self._form.import_file)
        dialog.open()

    def _export(self) -> None:
        dialog = self._dialog("Export the configuration", QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        data = self._text().encode()
        dialog.fileSelected.connect(lambda path: self._form.export_file(path, data))
        dialog.open()

    def _dialog(self, title: str, mode: QFileDialog.AcceptMode) -> QFileDialog:
        dialog = QFileDialog(self, title)
        dialog.setAcceptMode(mode)
        dialog.setNameFilter(_JSON)
        dialog.finished.connect(dialog.deleteLater)
        return dialog
