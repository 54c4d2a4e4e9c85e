"""PagedTable: base of the table models of episodes and steps.

Loads visible rows only and holds a few thousand of any number. A row that is not loaded yet shows
`LOADING_TEXT`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    Qt,
    Signal,
)

from gym_gui.live.feed.csv_export import Batch, CsvExport
from gym_gui.live.feed.table_pages import Fetch, TablePages
from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.table_model import Index, TableModel
from mosaic.contract.errors import UserError

Row = TypeVar("Row")

LOADING_TEXT = "…"


class PagedTable(TableModel, Generic[Row]):
    """Subclasses define the columns and how to fetch a page."""

    changed = Signal()
    """The source, the number of rows, the progress of an export, or `problem`."""
    open_requested = Signal(str)
    """A folder to open in the file manager."""

    def __init__(self, services: Services, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.problem: UserError | None = None
        """Why no rows could be loaded."""
        self.export_progress: tuple[int, int] | None = None
        """Rows written and total rows during an export."""
        self._services = services
        self._runs = runs
        self._total = 0
        self._is_closed = False
        self._export: CsvExport | None = None
        self._pages: TablePages[Row] = TablePages(services.tasks, services.ticker, self)
        self._pages.source_replaced.connect(self._on_source_replaced)
        self._pages.total_changed.connect(self._on_total_changed)
        self._pages.rows_loaded.connect(self._on_rows_loaded)
        self._pages.failed.connect(self._on_failed)
        runs.run_changed.connect(self._on_run_changed)
        services.link.connected.connect(self._on_connected)
        services.link.recovered.connect(self._pages.invalidate)

    # Implemented by subclasses.

    def make_fetch(self) -> Fetch[Row]:
        """Return the function that fetches a page; it is called on a thread."""
        raise NotImplementedError

    def apply_request(self) -> None:
        """Show what was requested last."""

    def text(self, row: Row, column: int) -> str:
        raise NotImplementedError

    def tone(self, row: Row, column: int) -> str:
        """Return the name of a theme colour."""
        raise NotImplementedError

    def missing_text(self, number: int, column: int) -> str:
        """Return the text of a row that does not exist."""
        raise NotImplementedError

    def export_name(self) -> str:
        """Return the last words of the name of an exported file."""
        raise NotImplementedError

    def csv_header(self) -> Sequence[str]:
        raise NotImplementedError

    def csv_batches(self) -> Iterable[Batch]:
        """Return the batches to export; they are iterated on a thread."""
        raise NotImplementedError

    # Used by views.

    @property
    def is_loading(self) -> bool:
        """The first rows are being loaded."""
        return bool(self.run_id) and not self._pages.is_loaded and self.problem is None

    @property
    def is_live(self) -> bool:
        run = self._runs.by_id(self.run_id)
        return run is not None and not run.state.is_final

    def row_at(self, number: int) -> Row | None:
        return self._pages.row(number)

    def as_tsv(self, rows: Sequence[int]) -> str:
        """Return the loaded ones of these rows, after a line of headings."""
        columns = range(len(self.COLUMNS))
        lines = ["\t".join(map(self.column_title, columns))]
        for number in rows:
            row = self._pages.row(number)
            if row is not None:
                lines.append("\t".join(self.text(row, column) for column in columns))
        return "\n".join(lines) + "\n"

    def export_csv(self) -> None:
        """Export all rows of the current filter to the folder `exports`. One export at a time."""
        if self.export_progress is not None or not self._services.link.has_client:
            return
        run = self._runs.by_id(self.run_id)
        title = run_text.title_of(run) if run else run_text.short_id(self.run_id)
        name, folder = f"{title} {self.export_name()}", self._services.link.home.exports
        header, batches = self.csv_header(), self.csv_batches()
        self.export_progress = (0, self._total)
        self._services.tasks.run(
            self,
            lambda: free_target(folder, name, "csv"),
            lambda path: self._start_export(path, header, batches),
            self._on_export_failed,
        )
        self.changed.emit()

    def _start_export(self, path: Path, header: Sequence[str], batches: Iterable[Batch]) -> None:
        if self._is_closed:
            return
        export = self._export = CsvExport(self._services.ticker, self)
        export.progressed.connect(self._on_export_progressed)
        export.finished.connect(self._on_export_finished)
        export.failed.connect(self._on_export_failed)
        export.cancelled.connect(self._end_export)
        export.start(path, header, batches)

    def cancel_export(self) -> None:
        if self._export is not None:
            self._export.cancel()

    def close(self) -> None:
        self._is_closed = True
        self.cancel_export()

    def join(self, timeout_s: float) -> bool:
        return self._export is None or self._export.join(timeout_s)

    # Qt's interface.

    def row_count(self) -> int:
        return self._total

    def cell(self, number: int, column: int) -> tuple[str, str]:
        """Return the text of a cell and the name of its colour."""
        row = self._pages.row(number)
        if row is not None:
            return self.text(row, column), self.tone(row, column)
        is_missing = self._pages.has_row(number)
        return self.missing_text(number, column) if is_missing else LOADING_TEXT, "disabled"

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cell(index.row(), index.column())[0]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole and not self.COLUMNS[index.column()].is_number:
            return self.cell(index.row(), index.column())[0]  # the cell may elide it
        return None

    # Updates.

    def _reload(self) -> None:
        """Drop all rows and load those of another source."""
        self.beginResetModel()
        self._total = 0
        self.problem = None
        self.apply_request()
        can_fetch = bool(self.run_id) and self._services.link.has_client
        self._pages.set_source(self.make_fetch() if can_fetch else None)
        self.endResetModel()
        self.changed.emit()

    def _replace(self) -> None:
        """Load another source; the current rows stay until its first ones are loaded."""
        if not self._total or not self._services.link.has_client:
            self._reload()
            return
        self.problem = None
        self._pages.set_source(self.make_fetch(), keep_rows=True)
        self.changed.emit()

    def _on_source_replaced(self) -> None:
        """The new rows follow before the next paint event."""
        self.beginResetModel()
        self._total = 0
        self.apply_request()
        self.endResetModel()

    def _on_connected(self) -> None:
        if self.run_id:
            self._reload()

    def _on_total_changed(self, total: int) -> None:
        before = self._total
        if total > before:
            self.beginInsertRows(QModelIndex(), before, total - 1)
            self._total = total
            self.endInsertRows()
        elif total < before:
            self.beginRemoveRows(QModelIndex(), total, before - 1)
            self._total = total
            self.endRemoveRows()
        self.changed.emit()

    def _on_rows_loaded(self, first: int, end: int) -> None:
        last = min(end, self._total) - 1
        if self.problem is not None:
            self.problem = None
            self.changed.emit()
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.COLUMNS) - 1))

    def _on_failed(self, error: UserError) -> None:
        self.problem = error
        self.changed.emit()

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self.run_id:
            self._pages.invalidate()

    def _on_export_progressed(self, written: int, total: int) -> None:
        if self._export is not None:
            self.export_progress = (written, total)
            self.changed.emit()

    def _on_export_finished(self, path: str) -> None:
        self._end_export()
        self._services.notices.offer(
            f"Exported to exports/{Path(path).name}.",
            "Show",
            lambda: self.open_requested.emit(str(Path(path).parent)),
            tone="good",
        )

    def _on_export_failed(self, error: UserError) -> None:
        self._end_export()
        self._services.notices.post_error(error)

    def _end_export(self) -> None:
        if self._export is not None:
            self._export.deleteLater()
            self._export = None
        self.export_progress = None
        self.changed.emit()
