"""CheckpointsTab: the checkpoints of a run, to play, continue training from or export."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QStackedWidget,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model.run_checkpoints_table import NUMBERS, CheckpointColumn, CheckpointRow
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.tables.cell_delegate import CellDelegate, Index
from gym_gui.widgets.tables.data_table import DataTable

_WIDTHS = (8, 8, 16, 7, -20)
_SELECT_FIRST = "Select a checkpoint first."


class CheckpointsTab(QWidget):
    """Shows `RunPageModel.checkpoints`. Enter or a double click plays the selected one."""

    checkpoint_requested = Signal(str)
    """Id of the checkpoint to play."""
    train_on_requested = Signal(str, str)
    """Run and checkpoint to continue training from."""
    open_requested = Signal(str)

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.grid = DataTable(
            model.checkpoints,
            _Cells(theme, self),
            _WIDTHS,
            theme,
            number_columns=NUMBERS,
            optional_columns=(CheckpointColumn.TIME, CheckpointColumn.SIZE),
        )
        self.grid.setAccessibleName("Checkpoints")
        self.grid.setSelectionMode(DataTable.SelectionMode.SingleSelection)
        self.play = _button("Play checkpoint", self._play)
        self.play.setProperty("role", "primary")
        self.train_on = _button("Continue training", self._train_on)
        self._copy = _button("Copy path", self._copy_path)
        self._export = _button("Export copy", self._export_copy)
        self._folder = _button("Open folder", self._open_folder)
        self._empty = EmptyState("download", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.setMinimumHeight(line * 3)
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self._empty)
        self._metrics = QLabel()
        self._metrics.setProperty("role", "caption")
        self._metrics.setWordWrap(True)
        self._bar = QWidget()
        buttons = FlowLayout(self._bar, gap=line // 2)
        for button in (self.play, self.train_on, self._copy, self._export, self._folder):
            buttons.addWidget(button)
        below = QVBoxLayout()
        below.setContentsMargins(line, line // 2, line, line // 2)
        below.setSpacing(line // 3)
        below.addWidget(self._metrics)
        below.addWidget(self._bar)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._stack, 1)
        layout.addLayout(below)
        self.grid.row_activated.connect(lambda _: self._play())
        self.grid.copy_requested.connect(self._copy_path)
        self.grid.selectionModel().selectionChanged.connect(lambda *_: self._update())
        model.checkpoints.modelAboutToBeReset.connect(self._save_selection)
        model.checkpoints.modelReset.connect(self._restore_selection)
        model.changed.connect(self._update)
        self._previous_id = ""
        self._restore_selection()

    def selected_row(self) -> CheckpointRow | None:
        rows = self.grid.selected_rows()
        return self._model.checkpoints.row(rows[0]) if rows else None

    def _save_selection(self) -> None:
        row = self.selected_row()
        self._previous_id = row.checkpoint.checkpoint_id if row else ""

    def _restore_selection(self) -> None:
        """Select the previous one, or the newest."""
        row = self._model.checkpoints.row_of_id(self._previous_id)
        if self._model.checkpoints.rowCount():
            self.grid.selectRow(max(0, row))
        self._update()

    def _play(self) -> None:
        row = self.selected_row()
        if row is not None and self.play.isEnabled():
            self.checkpoint_requested.emit(row.checkpoint.checkpoint_id)

    def _train_on(self) -> None:
        row = self.selected_row()
        if row is not None:
            run_id = self._model.selected.run_id
            self.train_on_requested.emit(run_id, row.checkpoint.checkpoint_id)

    def _copy_path(self) -> None:
        row = self.selected_row()
        if row is not None:
            QGuiApplication.clipboard().setText(self._model.checkpoint_path(row))

    def _export_copy(self) -> None:
        row = self.selected_row()
        if row is not None:
            self._model.export_checkpoint(row)

    def _open_folder(self) -> None:
        row = self.selected_row()
        if row is not None:
            self.open_requested.emit(self._model.checkpoint_path(row).rpartition("/")[0])

    def _update(self) -> None:
        table, row = self._model.checkpoints, self.selected_row()
        has_rows = table.rowCount() > 0
        self._stack.setCurrentIndex(0 if has_rows else 1)
        self._bar.setVisible(has_rows)
        self._metrics.setVisible(has_rows)
        if not has_rows:
            reason = next(row.reason for row in self._model.artifacts if row.kind == "checkpoints")
            is_listed = bool(self._model.selected.manifest.checkpoints)
            text = "Loading checkpoints." if is_listed else reason
            self._empty.show_message("No checkpoints", text)
            return
        numbers = row.metrics.items() if row else ()
        metrics = " · ".join(f"{name} {value:g}" for name, value in numbers)
        self._metrics.setText(metrics or (row.checkpoint.path if row else _SELECT_FIRST))
        for button in (self._copy, self._export, self._folder):
            _allow(button, "" if row else _SELECT_FIRST)
        _allow(self.play, self._why_not_play(row))
        _allow(self.train_on, self._why_not_train(row))

    def _why_not_play(self, row: CheckpointRow | None) -> str:
        worker = self._model.selected.descriptor
        if row is None:
            return _SELECT_FIRST
        if worker is None:
            return "Its worker is not installed, so it cannot be played."
        return "" if worker.supports.policy_load else f"{worker.label} cannot play checkpoints."

    def _why_not_train(self, row: CheckpointRow | None) -> str:
        worker = self._model.selected.descriptor
        if row is None:
            return _SELECT_FIRST
        if worker is None:
            return "Its worker is not installed, so training cannot continue."
        can = worker.supports.resume or worker.supports.warm_start
        return "" if can else f"{worker.label} cannot continue training from checkpoints."


class _Cells(CellDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option)
        column, text = index.column(), str(index.data() or "")
        self.record_text(column, text)
        tone = "text" if column in NUMBERS[:2] else "muted"
        self.paint_text(painter, option, text, tone, align_right=column in NUMBERS)


def _button(text: str, run: Callable[[], None]) -> QPushButton:
    button = QPushButton(text)
    button.clicked.connect(run)
    return button


def _allow(button: QPushButton, why_not: str) -> None:
    button.setEnabled(not why_not)
    button.setToolTip(why_not)
