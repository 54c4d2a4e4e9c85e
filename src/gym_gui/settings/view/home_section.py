"""Home: where everything is kept, and how much of it there is."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.model.settings_model import SettingsModel, size_text
from gym_gui.settings.view.section_frame import SectionFrame
from gym_gui.settings.view.usage_bar import UsageBar
from gym_gui.widgets.icons import keep_icon


class HomeSection(SectionFrame):
    open_wanted = Signal(str)

    def __init__(
        self, model: SettingsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__("Home", parent=parent)
        self._model = model
        path = QLabel(str(model.home))
        path.setProperty("role", "mono")
        path.setWordWrap(True)
        path.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        path.setAccessibleName("The folder of this home")
        folder = QPushButton("Open folder")
        keep_icon(folder, "folder", theme)
        folder.clicked.connect(lambda: self.open_wanted.emit(str(model.home)))
        row = QHBoxLayout()
        row.addWidget(path, 1)
        row.addWidget(folder)
        self.add(row)
        self._use = QLabel()
        self.add(self._use)
        self._bar = UsageBar(theme)
        self.add(self._bar)
        other = QLabel(
            "Runs, checkpoints, settings and keys are in this folder, which can be moved as a"
            " whole. To use another one, start with <b>mosaic --home</b> FOLDER or set"
            " <b>MOSAIC_HOME</b>."
        )
        other.setWordWrap(True)
        other.setProperty("role", "caption")
        self.add(other)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        retention, health = self._model.retention, self._model.health
        self._bar.setVisible(retention is not None)
        if retention is None:
            self._use.setText("The daemon measures how much is in it.")
            return
        total = sum(each.size_bytes for each in retention.used)
        free = f", {size_text(health.disk_free_bytes)} are free on the disk" if health else ""
        self._use.setText(f"{size_text(total)} in use{free}")
        self._bar.show_use(retention.used)
