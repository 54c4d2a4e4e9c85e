"""RunCheckpointsTable: the checkpoints of one run, the newest first."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Qt

from gym_gui.run_page.model.run_summary import time_text
from gym_gui.runtime.models.formatting import format_decimal, format_integer
from gym_gui.runtime.models.table_model import Column, Index, TableModel
from mosaic.contract.formatting import format_size
from mosaic.contract.storage import CheckpointRecord

_NONE = "—"


class CheckpointColumn(IntEnum):
    STEP = 0
    RETURN = 1
    TIME = 2
    SIZE = 3
    FILE = 4


NUMBERS = (CheckpointColumn.STEP, CheckpointColumn.RETURN, CheckpointColumn.SIZE)


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint and the metrics that its writer reported."""

    checkpoint: CheckpointRecord
    step: int | None
    total_return: float | None
    metrics: dict[str, float]

    @property
    def name(self) -> str:
        return self.checkpoint.path.rpartition("/")[2]


def row_of(checkpoint: CheckpointRecord) -> CheckpointRow:
    """Metrics that are missing or not numbers are left out."""
    try:
        meta = msgspec.json.decode(checkpoint.meta_json or b"{}")
    except msgspec.DecodeError:
        meta = {}
    meta = meta if isinstance(meta, dict) else {}
    reported = meta.get("metrics")
    metrics = {
        str(name): float(value)
        for name, value in (reported if isinstance(reported, dict) else {}).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    step = meta.get("step", meta.get("global_step"))
    returns = (value for name, value in metrics.items() if "return" in name)
    return CheckpointRow(
        checkpoint,
        int(step) if isinstance(step, int | float) and not isinstance(step, bool) else None,
        next(returns, None),
        metrics,
    )


class RunCheckpointsTable(TableModel):
    """Owned by `RunPageModel`."""

    COLUMNS = (
        Column("step", is_number=True),
        Column("return", is_number=True),
        Column("written"),
        Column("size", is_number=True),
        Column("file"),
    )

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[CheckpointRow] = []

    def show(self, checkpoints: Sequence[CheckpointRecord]) -> None:
        """Resets only if the checkpoints changed, so that the selection stays."""
        if [row.checkpoint for row in self._rows] == list(checkpoints):
            return
        self.beginResetModel()
        self._rows = [row_of(checkpoint) for checkpoint in checkpoints]
        self.endResetModel()

    def row(self, number: int) -> CheckpointRow | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def row_of_id(self, checkpoint_id: str) -> int:
        """-1 if it is not listed."""
        ids = [row.checkpoint.checkpoint_id for row in self._rows]
        return ids.index(checkpoint_id) if checkpoint_id in ids else -1

    def row_count(self) -> int:
        return len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], CheckpointColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            numbers = (f"{name}: {format_decimal(value)}" for name, value in row.metrics.items())
            return "\n".join((row.checkpoint.path, row.checkpoint.checkpoint_id, *numbers))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.column_title(column)} {_text(row, column)}"
        return None


def _text(row: CheckpointRow, column: CheckpointColumn) -> str:
    if column is CheckpointColumn.STEP:
        return format_integer(row.step) if row.step is not None else _NONE
    if column is CheckpointColumn.RETURN:
        return format_decimal(row.total_return) or _NONE
    if column is CheckpointColumn.TIME:
        return time_text(row.checkpoint.t, time.time())
    if column is CheckpointColumn.SIZE:
        return format_size(row.checkpoint.size_bytes)
    return row.name
