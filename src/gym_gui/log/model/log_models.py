"""LogModel and RunLogModel: the records of all logs, merged, and of one run."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt

from gym_gui.log.feed import RUN_TAIL_LINES, LogFeed, RunLogFeed, RunLogSource
from gym_gui.log.model.log_table_model import (
    CODE,
    COLUMNS,
    COMPONENT,
    TIME,
    LogRecord,
    LogTableModel,
)
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunRecord

__all__ = ["LogModel", "RunLogModel", "RunLogSource"]

_MAX_RECORDS = 20_000
_MAX_RUN_RECORDS = 100_000


class LogModel(LogTableModel):
    """All logs, merged. Shown by the Log tab. Created once, by `Models`."""

    min_batch_s = 0.1

    def __init__(self, feed: LogFeed, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(feed, ticker, _MAX_RECORDS, parent)
        self._feed = feed

    def show_run(self, run: RunRecord | None) -> None:
        """Add the log of this run and remove that of the previous one."""
        if self._feed.run_id == ("" if run is None else run.run_id):
            return
        self._feed.show_run(run)
        if any(record.source == "run" for record in self._records):
            others = [record for record in self._not_cleared() if record.source != "run"]
            self._replace_records(others)

    @property
    def run_id(self) -> str:
        """The run whose log is included; empty: none."""
        return self._feed.run_id

    @property
    def logs_folder(self) -> Path:
        return self._feed.logs_folder


class RunLogModel(LogTableModel):
    """The log of one run, one source at a time. Shown by the run page; created with it."""

    def __init__(self, services: Services, runs: RunsModel, parent: QObject | None = None) -> None:
        self._feed = RunLogFeed(services.link, services.ticker)
        super().__init__(self._feed, services.ticker, _MAX_RUN_RECORDS, parent)
        self._feed.setParent(self)
        self.run_id = ""
        self.source: RunLogSource = "output"
        self.is_finished = False
        """The log is complete and has been read to the end."""
        self._services = services
        self._runs = runs

    def show(self, run_id: str, source: RunLogSource | None = None) -> None:
        """Follow the log of this run; an empty id stops."""
        source = source or self.source
        if (run_id, source) == (self.run_id, self.source):
            return
        self.run_id, self.source = run_id, source
        self.is_finished = False
        self._dropped.clear()
        self._feed.show_source(run_id, source)
        self._replace_records([])

    @property
    def hidden_columns(self) -> frozenset[int]:
        """Output lines have no codes."""
        return frozenset((COMPONENT, CODE) if self.source == "output" else (COMPONENT,))

    @property
    def is_live(self) -> bool:
        run = self._runs.by_id(self.run_id)
        return run is not None and not run.state.is_final

    @property
    def problem(self) -> UserError | None:
        return self._feed.error

    @property
    def is_truncated(self) -> bool:
        """Whether the log may have lines before the first stored one."""
        return self.dropped_count > 0 or self.total >= RUN_TAIL_LINES

    @property
    def log_file(self) -> Path | None:
        """The file with the output of the worker."""
        return self._services.link.home.run(self.run_id).worker_log if self.run_id else None

    def line_text(self, record: LogRecord) -> str:
        """Output lines are copied as they were written."""
        return record.as_raw_text() if self.source == "output" else record.as_text()

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        text = super().headerData(section, orientation, role)
        return "Line" if text == COLUMNS[TIME] and self.source == "output" else text

    def close(self) -> None:
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not self._feed.threads

    def _on_tick(self) -> bool:
        is_finished = self._feed.is_finished  # read first: lines before the end are drained below
        if super()._on_tick():
            return True
        if is_finished == self.is_finished:
            return False
        self.is_finished = is_finished
        self.changed.emit()
        return True
