"""WandbRunInfo: name, project, folder and upload state of a W&B run."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.formatting import format_integer
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.wandb.model.wandb_model import WandbModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.buttons import CopyButton
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.labels import ElidedLabel
from mosaic.contract.formatting import format_size

_NO_ADDRESS = "The run has no address: it was tracked offline and is not uploaded."


class WandbRunInfo(QWidget):
    """Shows `WandbModel` without the values."""

    open_requested = Signal()
    reveal_requested = Signal(str)
    """A folder."""

    def __init__(self, model: WandbModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._name = ElidedLabel("heading")
        self.state = Badge("", "plain", theme)
        self.runs = QComboBox()
        self.runs.setAccessibleName("W&B run on this disk")
        self.runs.setToolTip("The run was tracked several times; newest first")
        self.runs.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.runs.setMinimumContentsLength(14)
        self.open = QPushButton("Open in W&&B")
        self.open.setProperty("role", "primary")
        set_icon(self.open, "external", theme, "on_accent")
        self.copy_address = CopyButton("Copy run address", lambda: model.url, theme)
        header = QHBoxLayout()
        header.setSpacing(line // 2)
        header.addWidget(self._name, 1)
        for widget in (self.runs, self.state, self.copy_address, self.open):
            header.addWidget(widget)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(line)
        self._grid.setVerticalSpacing(line // 4)
        self._values: dict[str, ElidedLabel] = {}
        for index, caption in enumerate(("Project", "Entity", "Run id", "History")):
            self._add_field(caption, index // 2, index % 2)
        self._add_folder(theme)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(3, 1)
        self.sync = _SyncCard(model, theme)
        self._warning = QLabel()
        self._warning.setWordWrap(True)
        self._warning.setProperty("tone", "warning")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line * 2 // 3)
        layout.addLayout(header)
        layout.addLayout(self._grid)
        layout.addWidget(self._warning)
        layout.addWidget(self.sync)
        self.open.clicked.connect(self.open_requested)
        self.runs.activated.connect(lambda index: model.select_run(self.runs.itemData(index)))

    def _add_field(self, caption: str, row: int, column: int) -> None:
        label = QLabel(caption)
        label.setProperty("role", "muted")
        value = self._values[caption] = ElidedLabel("value")
        value.setAccessibleName(caption)
        self._grid.addWidget(label, row, 2 * column)
        self._grid.addWidget(value, row, 2 * column + 1)

    def _add_folder(self, theme: ThemeModel) -> None:
        self._folder_caption = QLabel("Folder")
        self._folder_caption.setProperty("role", "muted")
        self._folder = ElidedLabel("value")
        self._folder.setAccessibleName("Folder")
        self.show_folder = QToolButton()
        set_icon(self.show_folder, "folder", theme, "muted")
        self.show_folder.setToolTip("Show folder")
        self.show_folder.setAccessibleName("Show folder")
        self.show_folder.clicked.connect(
            lambda: self.reveal_requested.emit(str(self._model.folder or ""))
        )
        self._grid.addWidget(self._folder_caption, 2, 0)
        row = QHBoxLayout()
        row.setSpacing(self.fontMetrics().height() // 3)
        row.addWidget(self._folder, 1)
        row.addWidget(self.show_folder)
        self._grid.addLayout(row, 2, 1, 1, 3)

    def update_info(self) -> None:
        model, run = self._model, self._model.run
        self._name.show_text((run.contents.name if run else "") or self._run_id() or "W&B run")
        self.state.show_text(*_state(model))
        self.open.setEnabled(bool(model.url))
        self.open.setToolTip(model.url or _NO_ADDRESS)
        self.copy_address.setEnabled(bool(model.url))
        self.copy_address.setToolTip("Copy run address" if model.url else _NO_ADDRESS)
        self._values["Project"].show_text(model.project or "-")
        self._values["Entity"].show_text(model.entity or "default entity")
        self._values["Run id"].show_text(self._run_id() or "-")
        self._values["History"].show_text(_history(model))
        for widget in (self._folder_caption, self._folder, self.show_folder):
            widget.setVisible(run is not None)
        self._folder.show_text(str(model.folder or ""))
        self._update_runs()
        warning = _warning(model)
        self._warning.setText(warning)
        self._warning.setVisible(bool(warning))
        self.sync.update_command()

    def _run_id(self) -> str:
        run = self._model.run
        return run.folder.run_id if run else self._model.url.rpartition("/")[2]

    def _update_runs(self) -> None:
        names = [run.folder.path.name for run in self._model.runs]
        if names != [self.runs.itemData(index) for index in range(self.runs.count())]:
            self.runs.clear()
            for local in self._model.runs:
                self.runs.addItem(_when(local.folder.when), local.folder.path.name)
        run = self._model.run
        if run is not None:
            self.runs.setCurrentIndex(names.index(run.folder.path.name))
        self.runs.setVisible(len(names) > 1)


class _SyncCard(QFrame):
    """The command that uploads an offline run."""

    def __init__(self, model: WandbModel, theme: ThemeModel) -> None:
        super().__init__()
        self._model = model
        self.setProperty("role", "card")
        line = self.fontMetrics().height()
        self._title = QLabel()
        self._title.setWordWrap(True)
        self._command = ElidedLabel("mono")
        self._command.setAccessibleName("Upload command")
        self.copy = CopyButton("Copy command", lambda: self._text, theme)
        row = QHBoxLayout()
        row.addWidget(self._command, 1)
        row.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line // 2, line // 2, line // 2)
        layout.setSpacing(line // 4)
        layout.addWidget(self._title)
        layout.addLayout(row)

    @property
    def _text(self) -> str:
        return self._model.run.sync_command if self._model.run else ""

    def update_command(self) -> None:
        run = self._model.run
        self.setVisible(run is not None and run.folder.is_offline)
        if run is None:
            return
        if run.folder.is_synced:
            self._title.setText("Uploaded. To upload it again, run this in a terminal:")
        elif self._model.is_finished or run.contents.exit_code is not None:
            self._title.setText("Not uploaded yet. To upload it, run this in a terminal:")
        else:
            self._title.setText("After the run, upload it in a terminal:")
        self._command.show_text(run.sync_command)


def _state(model: WandbModel) -> tuple[str, Tone]:
    run = model.run
    if run is None or not run.folder.is_offline:
        return ("Online", "good")
    return ("Uploaded", "good") if run.folder.is_synced else ("Offline, not uploaded", "warning")


def _history(model: WandbModel) -> str:
    run = model.run
    if run is None:
        return "on the server"
    contents = run.contents
    if not contents.rows:
        return "no rows yet" if not model.is_finished else "no rows"
    rows = f"{format_integer(contents.rows)} row{'' if contents.rows == 1 else 's'}"
    step = (
        f", last step {format_integer(contents.last_step)}"
        if contents.last_step is not None
        else ""
    )
    return f"{rows}{step} · {format_size(contents.size_bytes)}"


def _warning(model: WandbModel) -> str:
    run = model.run
    if run is None:
        return ""
    if run.problem:
        return run.problem
    unreadable = run.contents.unreadable
    if unreadable:
        records = "1 record is" if unreadable == 1 else f"{format_integer(unreadable)} records are"
        return f"{records} damaged and skipped."
    is_truncated = run.contents.unread_bytes > 0 and model.is_finished
    if is_truncated and run.contents.exit_code is None:
        return "The file ends within a record: the run was interrupted. Earlier records are listed."
    return ""


def _when(text: str) -> str:
    """Format `20260131_235959` as date and time."""
    day, _, hour = text.partition("_")
    return f"{day[:4]}-{day[4:6]}-{day[6:]} {hour[:2]}:{hour[2:4]}:{hour[4:]}"
