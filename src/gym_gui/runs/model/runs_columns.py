"""The columns of the list of runs: header, cell text, accessible text and sort key of each."""

import time
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import (
    first_line,
    format_decimal,
    format_rate,
    format_timestamp,
)
from gym_gui.runtime.models.run_text import STATE_ORDER
from mosaic.contract.formatting import format_clock, format_size
from mosaic.contract.runs import RunRecord


class RunColumn(IntEnum):
    RUN = 0
    WORKER = 1
    ENVIRONMENT = 2
    ALGORITHM = 3
    STATE = 4
    PROGRESS = 5
    ELAPSED = 6
    ETA = 7
    SPS = 8
    LATEST = 9
    MEAN = 10
    TREND = 11
    TAGS = 12
    NOTE = 13
    DISK = 14
    CREATED = 15


class ColumnHeader(NamedTuple):
    """`title` is the column's header, `name` its entry in the columns menu, `tip` its tooltip."""

    title: str
    name: str
    tip: str = ""


COLUMN_HEADERS = {
    RunColumn.RUN: ColumnHeader("run", "Run", "Name and the end of the id"),
    RunColumn.WORKER: ColumnHeader("worker", "Worker", "Worker that executes the run"),
    RunColumn.ENVIRONMENT: ColumnHeader("environment", "Environment"),
    RunColumn.ALGORITHM: ColumnHeader("algorithm", "Algorithm"),
    RunColumn.STATE: ColumnHeader("state", "State"),
    RunColumn.PROGRESS: ColumnHeader("progress", "Progress", "Fraction of the budget that is done"),
    RunColumn.ELAPSED: ColumnHeader("elapsed", "Elapsed", "Elapsed time"),
    RunColumn.ETA: ColumnHeader("left", "Time left", "Estimated time left"),
    RunColumn.SPS: ColumnHeader("SPS", "Steps per second", "Steps per second"),
    RunColumn.LATEST: ColumnHeader(
        "latest", "Latest return", "Return of the last finished episode"
    ),
    RunColumn.MEAN: ColumnHeader(
        "return", "Mean return", "Mean return of the last 100 finished episodes"
    ),
    RunColumn.TREND: ColumnHeader("trend", "Trend", "Recent returns, smoothed"),
    RunColumn.TAGS: ColumnHeader("tags", "Tags"),
    RunColumn.NOTE: ColumnHeader("note", "Note", "First line of the note"),
    RunColumn.DISK: ColumnHeader("disk", "Disk usage", "Size of the run's folder"),
    RunColumn.CREATED: ColumnHeader("created", "Created", "Submission time"),
}
RIGHT_ALIGNED_COLUMNS = (
    *(RunColumn.ELAPSED, RunColumn.ETA, RunColumn.SPS),
    *(RunColumn.LATEST, RunColumn.MEAN, RunColumn.DISK),
)
_SORTS_LAST = "\U0010ffff"
DEFAULT_COLUMNS = frozenset(RunColumn) - {RunColumn.ALGORITHM, RunColumn.CREATED}


def tip_of(run: RunRecord) -> str:
    """The tooltip of a row: the reason of a failure, its remedy, warnings, tags and note."""
    lines = [f"{run_text.title_of(run)} · {run.run_id}"]
    if run.reason:
        lines.append(run.reason)
    if run.remedy:
        lines.append(run.remedy)
    lines += run.warnings
    if run.tags:
        lines.append(f"Tags: {', '.join(run.tags)}")
    if run.note:
        lines.append(run.note)
    return "\n".join(lines)


def text_of(run: RunRecord, column: RunColumn) -> str:
    """Empty if there is no value or the delegate paints it."""
    text = _TEXTS.get(column)
    return text(run) if text else ""


def accessible_text(run: RunRecord, column: RunColumn) -> str:
    if column is RunColumn.PROGRESS:
        progress = run_text.progress_of(run)
        return "unknown" if progress is None else f"{progress:.0%}"
    return text_of(run, column)


def sort_key(column: RunColumn, *, is_descending: bool) -> Callable[[RunRecord], float | str]:
    """A sort key for this column. Unknown values are last in either order.

    The first column sorts by time of creation.
    """
    number_of, text = _NUMBERS.get(column), _TEXTS.get(column)
    if number_of is None:
        no_text = "" if is_descending else _SORTS_LAST
        return lambda run: (text(run).casefold() if text else "") or no_text
    no_number = float("-inf") if is_descending else float("inf")

    def key(run: RunRecord) -> float:
        number = number_of(run)
        return no_number if number is None or number != number else number

    return key


def _disk_text(run: RunRecord) -> str:
    size_bytes = run.digest.disk_bytes
    return "" if size_bytes is None else format_size(size_bytes)


def _elapsed_s(run: RunRecord) -> float | None:
    return run_text.elapsed_s(run, time.time())


_TEXTS: dict[RunColumn, Callable[[RunRecord], str]] = {
    RunColumn.RUN: run_text.title_of,
    RunColumn.WORKER: lambda run: run_text.worker_label(run.worker),
    RunColumn.ENVIRONMENT: lambda run: run.env_id,
    RunColumn.ALGORITHM: lambda run: run.algo,
    RunColumn.STATE: run_text.state_text,
    RunColumn.ELAPSED: lambda run: format_clock(_elapsed_s(run)),
    RunColumn.ETA: lambda run: format_clock(run_text.time_left_of(run)),
    RunColumn.SPS: lambda run: format_rate(run_text.speed_of(run)),
    RunColumn.LATEST: lambda run: format_decimal(run.digest.latest_return),
    RunColumn.MEAN: lambda run: format_decimal(run.digest.mean_return),
    RunColumn.TAGS: lambda run: ", ".join(run.tags),
    RunColumn.NOTE: lambda run: first_line(run.note),
    RunColumn.DISK: _disk_text,
    RunColumn.CREATED: lambda run: format_timestamp(run.created_at),
}
_NUMBERS: dict[RunColumn, Callable[[RunRecord], float | None]] = {
    RunColumn.RUN: lambda run: run.created_at,
    RunColumn.STATE: lambda run: STATE_ORDER[run.state],
    RunColumn.PROGRESS: run_text.progress_of,
    RunColumn.ELAPSED: _elapsed_s,
    RunColumn.ETA: run_text.time_left_of,
    RunColumn.SPS: run_text.speed_of,
    RunColumn.LATEST: lambda run: run.digest.latest_return,
    RunColumn.MEAN: lambda run: run.digest.mean_return,
    RunColumn.TREND: lambda run: run.digest.mean_return,
    RunColumn.DISK: lambda run: run.digest.disk_bytes,
    RunColumn.CREATED: lambda run: run.created_at,
}
