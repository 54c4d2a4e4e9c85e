"""PagedTable: what the tables of episodes and of steps have in common: rows come as they are seen.

However many rows there are, a table holds a few thousand. Placeholders stand where a row is on its
way.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.live.feed.csv_export import Batch, CsvExport
from gym_gui.live.feed.table_pages import Fetch, TablePages
from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")

ON_ITS_WAY = "…"
_NO_PARENT = QModelIndex()


class PagedTable(QAbstractTableModel, Generic[Row]):
    """Subclasses say what the columns are and how a page is fetched."""

    HEADINGS: tuple[tuple[str, str], ...] = ()
    """Text and tip of each column."""
    RIGHT: tuple[int, ...] = ()
    """Columns of numbers."""

    changed = Signal()
    """What is shown, how many rows there are, how an export goes, or `problem`."""
    show_requested = Signal(str)
    """A folder that is to be shown by the desktop."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        ticker: UiTicker,
        notices: Notices,
        runs: RunsModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.problem: UserError | None = None
        """Why there are no rows."""
        self.exported: tuple[int, int] | None = None
        """Rows written and rows in all, while an export goes on."""
        self._link = link
        self._tasks = tasks
        self._ticker = ticker
        self._notices = notices
        self._runs = runs
        self._total = 0
        self._is_closed = False
        self._export: CsvExport | None = None
        self._pages: TablePages[Row] = TablePages(tasks, ticker, self)
        self._pages.turned.connect(self._on_turned)
        self._pages.total_changed.connect(self._on_total)
        self._pages.arrived.connect(self._on_arrived)
        self._pages.failed.connect(self._on_failed)
        runs.run_changed.connect(self._on_run_changed)
        link.connected.connect(self._on_connected)
        link.recovered.connect(self._pages.note_news)

    # For subclasses.

    def make_fetch(self) -> Fetch[Row]:
        """How to get a page of what is shown now; it is called on a thread."""
        raise NotImplementedError

    def take_wanted(self) -> None:
        """What was asked for last is what is shown from now on."""

    def text(self, row: Row, column: int) -> str:
        raise NotImplementedError

    def tone(self, row: Row, column: int) -> str:
        """The name of a colour of the theme."""
        raise NotImplementedError

    def missing_text(self, number: int, column: int) -> str:
        """Where a row was fetched and there is none."""
        raise NotImplementedError

    def export_name(self) -> str:
        """What an exported file holds."""
        raise NotImplementedError

    def csv_header(self) -> Sequence[str]:
        raise NotImplementedError

    def csv_batches(self) -> Iterable[Batch]:
        """Of what is shown now; gone through on a thread."""
        raise NotImplementedError

    # For views.

    @property
    def is_loading(self) -> bool:
        """Something is shown, and nothing is known of it yet."""
        return bool(self.run_id) and not self._pages.is_known and self.problem is None

    @property
    def is_live(self) -> bool:
        run = self._runs.by_id(self.run_id)
        return run is not None and not run.state.is_final

    def row_at(self, number: int) -> Row | None:
        return self._pages.row(number)

    def as_tsv(self, rows: Sequence[int]) -> str:
        """The rows that are there, with a line of headings."""
        columns = range(len(self.HEADINGS))
        lines = ["\t".join(self.HEADINGS[column][0] for column in columns)]
        for number in rows:
            row = self._pages.row(number)
            if row is not None:
                lines.append("\t".join(self.text(row, column) for column in columns))
        return "\n".join(lines) + "\n"

    def export_csv(self) -> None:
        """All rows that are chosen, not only those in sight, to the home's folder of exports.

        One export at a time.
        """
        if self.exported is not None or not self._link.has_client:
            return
        run = self._runs.by_id(self.run_id)
        title = run_text.title_of(run) if run else run_text.short_id(self.run_id)
        name, folder = f"{title} {self.export_name()}", self._link.home.path / "exports"
        header, batches = self.csv_header(), self.csv_batches()
        self.exported = (0, self._total)
        self._tasks.run(
            self,
            lambda: free_target(folder, name, "csv"),
            lambda path: self._begin_export(path, header, batches),
            self._on_export_failed,
        )
        self.changed.emit()

    def _begin_export(self, path: Path, header: Sequence[str], batches: Iterable[Batch]) -> None:
        if self._is_closed:
            return
        export = self._export = CsvExport(self._ticker, self)
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

    # Qt's side.

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else self._total

    def columnCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self.HEADINGS)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or section >= len(self.HEADINGS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.HEADINGS[section][0]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.HEADINGS[section][1] or None
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def cell(self, number: int, column: int) -> tuple[str, str]:
        """Text and colour by name: all that painting a cell needs, in one question."""
        row = self._pages.row(number)
        if row is not None:
            return self.text(row, column), self.tone(row, column)
        is_there = self._pages.is_there(number)
        return self.missing_text(number, column) if is_there else ON_ITS_WAY, "disabled"

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cell(index.row(), index.column())[0]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() not in self.RIGHT:
            return self.cell(index.row(), index.column())[0]  # there may be no room for all of it
        return None

    # What happens.

    def _start_over(self) -> None:
        """Something else is shown."""
        self.beginResetModel()
        self._total = 0
        self.problem = None
        self.take_wanted()
        can_ask = bool(self.run_id) and self._link.has_client
        self._pages.ask(self.make_fetch() if can_ask else None)
        self.endResetModel()
        self.changed.emit()

    def _turn(self) -> None:
        """Something else is shown as soon as its first rows are there: no empty table between."""
        if not self._total or not self._link.has_client:
            self._start_over()
            return
        self.problem = None
        self._pages.ask(self.make_fetch(), keeps_rows=True)
        self.changed.emit()

    def _on_turned(self) -> None:
        """Rows follow at once, before anything is painted."""
        self.beginResetModel()
        self._total = 0
        self.take_wanted()
        self.endResetModel()

    def _on_connected(self) -> None:
        if self.run_id:
            self._start_over()

    def _on_total(self, total: int) -> None:
        before = self._total
        if total > before:
            self.beginInsertRows(_NO_PARENT, before, total - 1)
            self._total = total
            self.endInsertRows()
        elif total < before:
            self.beginRemoveRows(_NO_PARENT, total, before - 1)
            self._total = total
            self.endRemoveRows()
        self.changed.emit()

    def _on_arrived(self, first: int, end: int) -> None:
        last = min(end, self._total) - 1
        if self.problem is not None:
            self.problem = None
            self.changed.emit()
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.HEADINGS) - 1))

    def _on_failed(self, error: UserError) -> None:
        self.problem = error
        self.changed.emit()

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self.run_id:
            self._pages.note_news()

    def _on_export_progressed(self, written: int, total: int) -> None:
        if self._export is not None:
            self.exported = (written, total)
            self.changed.emit()

    def _on_export_finished(self, path: str) -> None:
        self._end_export()
        self._notices.offer(
            f"Exported to exports/{Path(path).name}.",
            "Show",
            lambda: self.show_requested.emit(str(Path(path).parent)),
            tone="good",
        )

    def _on_export_failed(self, error: UserError) -> None:
        self._end_export()
        self._notices.fail(error)

    def _end_export(self) -> None:
        if self._export is not None:
            self._export.deleteLater()
            self._export = None
        self.exported = None
        self.changed.emit()

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        is_right = column in self.RIGHT
        side = Qt.AlignmentFlag.AlignRight if is_right else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
