"""EpisodesTable: table model of the episodes of a run, sorted and filtered by the daemon."""

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any

import msgspec
from PySide6.QtCore import Qt

from gym_gui.live.feed.csv_export import Batch
from gym_gui.live.feed.table_pages import PAGE_ROWS, Fetch, Page
from gym_gui.live.model.paged_table import PagedTable
from gym_gui.runtime.models.formatting import format_decimal, format_integer
from gym_gui.runtime.models.table_model import Column
from mosaic.contract.episodes import EpisodeOrder, EpisodeQuery, EpisodeRollup, EpisodeStatus

_CSV_FIELDS = EpisodeRollup.__struct_fields__
_CSV_ROWS = 2_000


class EpisodeColumn(IntEnum):
    EPISODE = 0
    RETURN = 1
    STEPS = 2
    END = 3
    AGENT = 4


SORT_ORDERS: dict[int, EpisodeOrder] = {
    EpisodeColumn.EPISODE: "episode",
    EpisodeColumn.RETURN: "return",
    EpisodeColumn.STEPS: "steps",
}
"""Sortable columns."""


class EpisodesTable(PagedTable[EpisodeRollup]):
    """Created once for each view."""

    COLUMNS = (
        Column("episode", "Episode number", is_number=True),
        Column("return", "Sum of its rewards", is_number=True),
        Column("steps", "Number of steps", is_number=True),
        Column("end", "Terminated by the environment, or truncated by a limit"),
        Column("agent"),
    )

    query = EpisodeQuery()
    _unfiltered: tuple[str, int] = ("", 0)
    """A run, and its number of episodes when there was no filter."""

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Add an arrow to the sorted column; Qt's own would cover right-aligned headings."""
        value = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and SORT_ORDERS.get(section) == self.query.order:
            return f"{value} {'↓' if self.query.descending else '↑'}"
        return value

    def show(self, run_id: str) -> None:
        """Show the episodes of a run; an empty id shows none."""
        if run_id != self.run_id or self.problem is not None:
            self.run_id = run_id
            self._reload()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        key = SORT_ORDERS.get(column)
        if key is not None:
            descending = order is Qt.SortOrder.DescendingOrder
            self._set_query(msgspec.structs.replace(self.query, order=key, descending=descending))

    def filter_status(self, status: EpisodeStatus) -> None:
        """Show only episodes of this status; empty: all."""
        self._set_query(msgspec.structs.replace(self.query, ended=status))

    def filter_return(self, minimum: float | None, maximum: float | None) -> None:
        """Show only episodes with a return in this range."""
        query = msgspec.structs.replace(self.query, min_return=minimum, max_return=maximum)
        self._set_query(query)

    @property
    def is_filtered(self) -> bool:
        unfiltered = EpisodeQuery(order=self.query.order, descending=self.query.descending)
        return self.query != unfiltered

    @property
    def unfiltered_count(self) -> int:
        """The number of episodes without the filter, as far as known."""
        run = self._runs.by_id(self.run_id)
        known = self._unfiltered[1] if self._unfiltered[0] == self.run_id else 0
        return max(known, self._total, run.digest.episodes if run else 0)

    @property
    def appends_rows(self) -> bool:
        return self.query == EpisodeQuery()

    @property
    def has_agents(self) -> bool:
        """The first episode names its agent."""
        first = self.row_at(0) if self.rowCount() else None
        return first is not None and first.agent_id is not None

    def _set_query(self, query: EpisodeQuery) -> None:
        if query != self.query:
            self.query = query
            self._reload()

    def _on_total_changed(self, total: int) -> None:
        if not self.is_filtered:
            self._unfiltered = (self.run_id, total)
        super()._on_total_changed(total)

    def export_name(self) -> str:
        return "episodes"

    def make_fetch(self) -> Fetch[EpisodeRollup]:
        client, run_id, query = self._services.link.client, self.run_id, self.query
        arguments = msgspec.structs.asdict(query)

        def fetch(first: int, count: int) -> Page[EpisodeRollup]:
            page = client.episodes_page(run_id, first=first, count=count, **arguments)
            is_complete = query == EpisodeQuery() and len(page.episodes) == PAGE_ROWS
            is_final = is_complete and all(episode.is_over for episode in page.episodes)
            return Page(page.episodes, page.total, is_final)

        return fetch

    def text(self, row: EpisodeRollup, column: int) -> str:
        if column == EpisodeColumn.EPISODE:
            return format_integer(row.episode)
        if column == EpisodeColumn.RETURN:
            return format_decimal(row.total_return)
        if column == EpisodeColumn.STEPS:
            return format_integer(max(row.steps, row.reported_steps or 0))
        if column == EpisodeColumn.END:
            return _status_text(row)
        return row.agent_id or ""

    def tone(self, row: EpisodeRollup, column: int) -> str:
        if column < EpisodeColumn.END:
            return "text"
        return "muted" if row.is_over or column != EpisodeColumn.END else "accent"

    def missing_text(self, number: int, column: int) -> str:  # noqa: ARG002 - declared by the base class
        return ""

    def csv_header(self) -> Sequence[str]:
        return _CSV_FIELDS

    def csv_batches(self) -> Iterable[Batch]:
        fetch = self.make_fetch()

        def batches() -> Iterator[Batch]:
            first = 0
            while rows := (page := fetch(first, _CSV_ROWS)).rows:
                yield [msgspec.structs.astuple(row) for row in rows if row], page.total
                first += len(rows)

        return batches()


def _status_text(row: EpisodeRollup) -> str:
    if row.terminated:
        return "terminated"
    if row.truncated:
        return "truncated"
    return "finished" if row.is_over else "running"
