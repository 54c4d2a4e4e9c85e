"""ArtifactsPart: everything the run has left behind; and of what is missing, how to get it."""

import time

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.view.artifact_row import ArtifactRowView
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.elided_label import ElidedLabel

_TABS = {"tensorboard": "tensorboard", "wandb": "wandb", "optuna": "optuna"}


class ArtifactsPart(QScrollArea):
    """Rows are made anew only where they are other than before."""

    tab_wanted = Signal(str)
    checkpoints_wanted = Signal()
    open_wanted = Signal(str)
    video_wanted = Signal(str, str)
    """Run, and where the video is."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.rows: list[ArtifactRowView] = []
        line = self.fontMetrics().height()
        self._where = ElidedLabel("muted")
        open_folder = QPushButton("Open the run's folder")
        open_folder.clicked.connect(self._open_run_folder)
        head = QHBoxLayout()
        head.addWidget(self._where, 1)
        head.addWidget(open_folder)
        self._list = QVBoxLayout()
        self._list.setSpacing(line // 2)
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(line, line * 2 // 3, line, line)
        layout.setSpacing(line // 2)
        layout.addLayout(head)
        layout.addLayout(self._list)
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        model.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        self._where.say(self._model.path_of(""))
        rows = self._model.artifacts
        if rows == [view.row for view in self.rows]:
            return
        for at, row in enumerate(rows):
            if at < len(self.rows) and self.rows[at].row == row:
                continue
            view = ArtifactRowView(row, self._theme, time.time())
            view.action_wanted.connect(self._act)
            view.folder_wanted.connect(
                lambda path: self.open_wanted.emit(self._model.path_of(path))
            )
            view.file_wanted.connect(self._open_file)
            if at < len(self.rows):
                old, self.rows[at] = self.rows[at], view
                self._list.replaceWidget(old, view)
                old.hide()
                old.deleteLater()
            else:
                self.rows.append(view)
                self._list.addWidget(view)

    def _act(self, kind: str) -> None:
        if kind in _TABS:
            self.tab_wanted.emit(_TABS[kind])
        else:
            self.checkpoints_wanted.emit()

    def _open_file(self, kind: str, path: str) -> None:
        if kind == "videos":
            self.video_wanted.emit(self._model.shown.run_id, self._model.path_of(path))
        else:
            self.open_wanted.emit(self._model.path_of(path))

    def _open_run_folder(self) -> None:
        if self._model.run is not None:
            self._model.actions.open_folder(self._model.run.run_id)
