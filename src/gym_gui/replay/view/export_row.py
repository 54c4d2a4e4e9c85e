"""ExportRow: buttons to export the episode, and the progress."""

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.replay.model.replay_model import ExportFormat, ReplayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.styling import set_disabled_reason

_KINDS = (
    ("MP4", ExportFormat.MP4, "Video file"),
    ("GIF", ExportFormat.GIF, "Animated image"),
    ("JSONL", ExportFormat.JSONL, "Recorded steps, one JSON object per line"),
)


_NOTHING = "No episode is open."


class ExportRow(QWidget):
    """Shows `ReplayModel.exports`: one button per format, or a progress bar."""

    def __init__(
        self, model: ReplayModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        title = QLabel("Export")
        title.setProperty("role", "heading")
        self._captions = QCheckBox("Captions")
        self._captions.setToolTip("Step, action, reward and return below each frame")
        header = QHBoxLayout()
        header.addWidget(title)
        header.addStretch(1)
        header.addWidget(self._captions)
        buttons = QHBoxLayout()
        buttons.setSpacing(line // 3)
        self._buttons = []
        for text, kind, tip in _KINDS:
            button = QPushButton(text)
            button.setToolTip(f"{tip}, saved to {model.exports.folder}")
            button.clicked.connect(lambda _=False, chosen=kind: self._export(chosen))
            buttons.addWidget(button, 1)
            self._buttons.append(button)
        self._progress = QProgressBar()
        self._progress.setAccessibleName("Export progress")
        self._progress.setTextVisible(False)
        self._percent = QLabel()
        self._percent.setProperty("role", "muted")
        self._cancel = QToolButton()
        set_icon(self._cancel, "close", theme)
        self._cancel.setToolTip("Cancel the export")
        self._cancel.setAccessibleName("Cancel the export")
        self._cancel.clicked.connect(model.exports.cancel)
        progress = QHBoxLayout()
        progress.addWidget(self._percent)
        progress.addWidget(self._progress, 1)
        progress.addWidget(self._cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addLayout(header)
        layout.addLayout(buttons)
        layout.addLayout(progress)
        model.exports.changed.connect(self.show_state)
        model.exports.reveal_requested.connect(reveal)
        self.show_state()

    def show_state(self) -> None:
        exports, is_ready = self._model.exports, self._model.phase == "ready"
        for (_, kind, _), button in zip(_KINDS, self._buttons, strict=True):
            is_text = kind is ExportFormat.JSONL
            reason = "" if is_text else self._model.frame_problem
            set_disabled_reason(button, reason if is_ready else _NOTHING)
            button.setVisible(not exports.is_running)
        set_disabled_reason(self._captions, self._model.frame_problem if is_ready else _NOTHING)
        self._progress.setVisible(exports.is_running)
        self._cancel.setVisible(exports.is_running)
        self._percent.setVisible(exports.is_running)
        self._percent.setText(f"Exporting {exports.fraction:.0%}")
        self._progress.setValue(round(100 * exports.fraction))

    def _export(self, kind: ExportFormat) -> None:
        self._model.export(kind, captions=self._captions.isChecked())


def reveal(path: str) -> None:
    """Show the folder of a file in the system file browser."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(path).parent)))
