"""ConfigurationBar: presets, import and export of the configuration as JSON, and reset."""

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
from gym_gui.widgets.styling import set_disabled_reason

_FILE_FILTER = "Run configuration (*.json)"


class ConfigurationBar(QWidget):
    """Shows `TrainingForm`. The name of a preset is entered in a line below, not in a dialog."""

    def __init__(self, form: TrainingForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self.presets = QPushButton("Presets")
        self.json = QPushButton("JSON")
        self.reset = QPushButton("Reset")
        self.name = QLineEdit()
        self.save = QPushButton("Save")
        self._name_line = QWidget()
        self._build()
        self.reset.clicked.connect(form.reset)
        self.save.clicked.connect(self._save)
        self.name.returnPressed.connect(self._save)
        cancel = QShortcut(Qt.Key.Key_Escape, self._name_line, self._hide_name_line)
        cancel.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        form.presets.changed.connect(self._fill_presets)
        form.agent_changed.connect(self._show)
        form.document_changed.connect(self._show)
        self._fill_presets()
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self.presets.setMenu(QMenu(self.presets))
        self.presets.menu().setToolTipsVisible(True)
        self.reset.setToolTip("Reset all settings to their defaults")
        self.presets.setToolTip("Saved settings for this worker and environment")
        menu = QMenu(self.json)
        menu.addAction("Copy as JSON", self._copy)
        menu.addAction("Paste JSON", self._paste)
        menu.addSeparator()
        menu.addAction("Import from file…", self._import)
        menu.addAction("Export to file…", self._export)
        self.json.setMenu(menu)
        self.json.setToolTip("Copy, paste, import or export the configuration")
        self.name.setPlaceholderText("Preset name")
        self.name.setAccessibleName("Preset name")
        line = QHBoxLayout()
        line.setSpacing(em // 2)
        for button in (self.presets, self.json, self.reset):
            line.addWidget(button, 1)
        name_layout = QHBoxLayout(self._name_line)
        name_layout.setContentsMargins(0, 0, 0, 0)
        name_layout.setSpacing(em // 2)
        name_layout.addWidget(self.name, 1)
        name_layout.addWidget(self.save)
        self._name_line.setVisible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addLayout(line)
        layout.addWidget(self._name_line)

    def _show(self) -> None:
        reason = "" if self._form.agent is not None else "Select an agent first."
        changed = self._form.changed_count
        for button in (self.presets, self.json):
            set_disabled_reason(button, reason)
        set_disabled_reason(
            self.reset, reason or ("" if changed else "All settings have their defaults.")
        )
        self.reset.setText(f"Reset {changed}" if changed else "Reset")

    def _fill_presets(self) -> None:
        menu = self.presets.menu()
        menu.clear()
        for name in self._form.presets.names:
            menu.addAction(name, partial(self._form.load_preset, name))
        if not self._form.presets.names:
            placeholder = menu.addAction("No presets for this worker and environment")
            placeholder.setToolTip("Saved presets are listed here.")
            placeholder.setEnabled(False)
        menu.addSeparator()
        menu.addAction("Save as preset…", self._show_name_line)
        if self._form.presets.names:
            delete_menu = menu.addMenu("Delete preset")
            for name in self._form.presets.names:
                delete_menu.addAction(name, partial(self._form.presets.delete, name))

    def _show_name_line(self) -> None:
        target = self._form.target
        self.name.setText(f"{target.env_id}-{target.algo}".replace("/", "-"))
        self._name_line.setVisible(True)
        self.name.setFocus()
        self.name.selectAll()

    def _save(self) -> None:
        if self.name.text().strip():
            self._form.save_preset(self.name.text())
            self._hide_name_line()

    def _hide_name_line(self) -> None:
        self.presets.setFocus()
        self._name_line.setVisible(False)

    def _text(self) -> str:
        return json.dumps(self._form.document, indent=2, ensure_ascii=False) + "\n"

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text())

    def _paste(self) -> None:
        self._form.paste(QGuiApplication.clipboard().text())

    def _import(self) -> None:
        dialog = self._dialog("Import configuration", QFileDialog.AcceptMode.AcceptOpen)
        dialog.fileSelected.connect(self._form.import_file)
        dialog.open()

    def _export(self) -> None:
        dialog = self._dialog("Export configuration", QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        data = self._text().encode()
        dialog.fileSelected.connect(lambda path: self._form.export_file(path, data))
        dialog.open()

    def _dialog(self, title: str, mode: QFileDialog.AcceptMode) -> QFileDialog:
        dialog = QFileDialog(self, title)
        dialog.setAcceptMode(mode)
        dialog.setNameFilter(_FILE_FILTER)
        dialog.finished.connect(dialog.deleteLater)
        return dialog
