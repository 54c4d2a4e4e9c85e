"""ArtifactsTab: the artifacts of a run, or how to get those that are missing."""

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model.run_artifacts import ArtifactRow
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.model.run_summary import time_text
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.labels import ElidedLabel
from mosaic.contract.formatting import format_size
from mosaic.contract.manifest import ArtifactFile

_INITIAL_FILES = 5


class ArtifactRowView(QFrame):
    """Shows an `ArtifactRow`. Replaced when the row changes."""

    action_requested = Signal(str)
    """Kind of artifact."""
    folder_requested = Signal(str)
    """Path relative to the run folder."""
    file_requested = Signal(str, str)
    """Kind of artifact, and path relative to the run folder."""

    def __init__(
        self, row: ArtifactRow, theme: ThemeModel, now: float, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.row = row
        self._theme = theme
        self._now = now
        self._line = line = self.fontMetrics().height()
        self.setProperty("role", "card")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(line * 3 // 4, line // 2, line // 2, line // 2)
        self._layout.setSpacing(line // 4)
        self._layout.addLayout(self._header())
        self._add_files(row.files[:_INITIAL_FILES])
        self._more: QPushButton | None = None
        if len(row.files) > _INITIAL_FILES or row.not_listed:
            self._add_more()

    def _header(self) -> QHBoxLayout:
        row = self.row
        header = QHBoxLayout()
        header.setSpacing(self._line // 2)
        title = QLabel(row.title)
        title.setEnabled(not row.reason)
        font = title.font()
        font.setBold(not row.reason)
        title.setFont(font)
        header.addWidget(title)
        size = format_size(row.size_bytes) if row.size_bytes is not None else ""
        when = time_text(row.t, self._now) if row.t else ""
        if row.reason:
            reason = QLabel(row.reason)
            reason.setProperty("role", "muted")
            reason.setWordWrap(True)
            header.addWidget(reason, 1)
        else:
            summary = ElidedLabel("muted")
            summary.show_text(" · ".join(filter(None, (row.description, size, when))))
            header.addWidget(summary, 1)
        if row.path and not row.reason:
            header.addWidget(
                _button("folder", f"Open folder of {row.title}", self._theme, self._open_folder)
            )
        if row.action:
            action = QPushButton(row.action.replace("&", "&&"))
            action.setEnabled(not row.reason)
            action.setToolTip(row.reason)
            action.clicked.connect(lambda: self.action_requested.emit(row.kind))
            header.addWidget(action)
        return header

    def _open_folder(self) -> None:
        self.folder_requested.emit(self.row.path)

    def _add_files(self, files: tuple[ArtifactFile, ...]) -> None:
        for file in files:
            self._layout.addLayout(self._file_line(file))

    def _file_line(self, file: ArtifactFile) -> QHBoxLayout:
        name = ElidedLabel("value")
        name.show_text(file.path.rpartition("/")[2])
        name.setToolTip(file.path)
        size = QLabel(format_size(file.size_bytes))
        size.setProperty("role", "muted")
        when = QLabel(time_text(file.t, self._now))
        when.setProperty("role", "muted")
        is_video = self.row.kind == "videos"
        open_button = _button(
            "play" if is_video else "external",
            f"{'Play' if is_video else 'Open'} {file.path.rpartition('/')[2]}",
            self._theme,
            lambda: self.file_requested.emit(self.row.kind, file.path),
        )
        line = QHBoxLayout()
        line.setSpacing(self._line // 2)
        line.addWidget(name, 1)
        line.addWidget(size)
        line.addWidget(when)
        line.addWidget(open_button)
        return line

    def _add_more(self) -> None:
        row = self.row
        count = len(row.files) - _INITIAL_FILES + row.not_listed
        self._more = QPushButton(f"{count:,} more")
        self._more.setProperty("role", "quiet")
        self._more.clicked.connect(self._show_more)
        self._layout.addWidget(self._more)

    def _show_more(self) -> None:
        if self._more is not None:
            self._more.deleteLater()
            self._more = None
        self._add_files(self.row.files[_INITIAL_FILES:])
        if self.row.not_listed:
            label = QLabel(f"{self.row.not_listed:,} more are in the folder.")
            label.setProperty("role", "muted")
            self._layout.addWidget(label)


def _button(icon: IconName, text: str, theme: ThemeModel, run: Callable[[], None]) -> QToolButton:
    button = QToolButton()
    set_icon(button, icon, theme, "muted")
    button.setToolTip(text)
    button.setAccessibleName(text)
    button.clicked.connect(run)
    return button


_TABS = {"tensorboard": "tensorboard", "wandb": "wandb", "optuna": "optuna"}


class ArtifactsTab(QScrollArea):
    """Shows `RunPageModel.artifacts`. Only changed rows are replaced."""

    tab_requested = Signal(str)
    checkpoints_requested = Signal()
    open_requested = Signal(str)
    video_requested = Signal(str, str)
    """Run, and path of the video."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.rows: list[ArtifactRowView] = []
        line = self.fontMetrics().height()
        self._path = ElidedLabel("muted")
        open_folder = QPushButton("Open run folder")
        open_folder.clicked.connect(self._open_run_folder)
        header = QHBoxLayout()
        header.addWidget(self._path, 1)
        header.addWidget(open_folder)
        self._list = QVBoxLayout()
        self._list.setSpacing(line // 2)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(line, line * 2 // 3, line, line)
        layout.setSpacing(line // 2)
        layout.addLayout(header)
        layout.addLayout(self._list)
        layout.addStretch(1)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        model.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        self._path.show_text(self._model.path_of(""))
        rows = self._model.artifacts
        if rows == [view.row for view in self.rows]:
            return
        for index, row in enumerate(rows):
            if index < len(self.rows) and self.rows[index].row == row:
                continue
            view = ArtifactRowView(row, self._theme, time.time())
            view.action_requested.connect(self._act)
            view.folder_requested.connect(
                lambda path: self.open_requested.emit(self._model.path_of(path))
            )
            view.file_requested.connect(self._open_file)
            if index < len(self.rows):
                old, self.rows[index] = self.rows[index], view
                self._list.replaceWidget(old, view)
                old.hide()
                old.deleteLater()
            else:
                self.rows.append(view)
                self._list.addWidget(view)

    def _act(self, kind: str) -> None:
        if kind in _TABS:
            self.tab_requested.emit(_TABS[kind])
        else:
            self.checkpoints_requested.emit()

    def _open_file(self, kind: str, path: str) -> None:
        if kind == "videos":
            self.video_requested.emit(self._model.selected.run_id, self._model.path_of(path))
        else:
            self.open_requested.emit(self._model.path_of(path))

    def _open_run_folder(self) -> None:
        if self._model.run is not None:
            self._model.actions.open_folder(self._model.run.run_id)
