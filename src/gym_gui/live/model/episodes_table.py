"""EpisodesTable: the episodes of a run, all of them, in any order, as they come."""

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any

import msgspec
from PySide6.QtCore import Qt

from gym_gui.live.feed.csv_export import Batch
from gym_gui.live.feed.table_pages import PAGE_ROWS, Answer, Fetch
from gym_gui.live.model.paged_table import PagedTable
from gym_gui.runtime.models import run_text
from mosaic.contract.episodes import EpisodeOrder, EpisodeQuery, EpisodeRollup, EpisodeStatus

_CSV_FIELDS = EpisodeRollup.__struct_fields__
_CSV_ROWS = 2_000


class EpisodeColumn(IntEnum):
    EPISODE = 0
    RETURN = 1
    STEPS = 2
    END = 3
    AGENT = 4


ORDERS: dict[int, EpisodeOrder] = {
    EpisodeColumn.EPISODE: "episode",
    EpisodeColumn.RETURN: "return",
    EpisodeColumn.STEPS: "steps",
}
"""Columns that can be sorted by."""


class EpisodesTable(PagedTable[EpisodeRollup]):
    """Made by the wiring, once for each place that shows it."""

    HEADINGS = (
        ("episode", "Its number in the run"),
        ("return", "The sum of its rewards"),
        ("steps", "How many steps it took"),
        ("end", "Terminated: the environment ended it. Truncated: a limit did."),
        ("agent", ""),
    )
    RIGHT = (EpisodeColumn.EPISODE, EpisodeColumn.RETURN, EpisodeColumn.STEPS)

    choice = EpisodeQuery()
    _counted: tuple[str, int] = ("", 0)
    """A run, and how many episodes of it there were when all were shown."""

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """With an arrow where it is sorted: the header's own would lie on numbers' headings."""
        shown = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and ORDERS.get(section) == self.choice.order:
            return f"{shown} {'↓' if self.choice.descending else '↑'}"
        return shown

    def show(self, run_id: str) -> None:
        """The episodes of this run; without an id, none."""
        if run_id != self.run_id or self.problem is not None:
            self.run_id = run_id
            self._start_over()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        by = ORDERS.get(column)
        if by is not None:
            is_down = order is Qt.SortOrder.DescendingOrder
            self._choose(msgspec.structs.replace(self.choice, order=by, descending=is_down))

    def only(self, ended: EpisodeStatus) -> None:
        """Those that ended so; empty: all."""
        self._choose(msgspec.structs.replace(self.choice, ended=ended))

    def between(self, least: float | None, most: float | None) -> None:
        """Those with a return in this range."""
        self._choose(msgspec.structs.replace(self.choice, min_return=least, max_return=most))

    @property
    def is_filtered(self) -> bool:
        plain = EpisodeQuery(order=self.choice.order, descending=self.choice.descending)
        return self.choice != plain

    @property
    def unfiltered_count(self) -> int:
        """How many there are in all, as far as is known."""
        run = self._runs.by_id(self.run_id)
        known = self._counted[1] if self._counted[0] == self.run_id else 0
        return max(known, self._total, run.digest.episodes if run else 0)

    @property
    def grows_at_the_end(self) -> bool:
        return self.choice == EpisodeQuery()

    @property
    def has_agents(self) -> bool:
        """Whether episodes say whose they are, by the first one in sight."""
        first = self.row_at(0) if self.rowCount() else None
        return first is not None and first.agent_id is not None

    def _choose(self, choice: EpisodeQuery) -> None:
        if choice != self.choice:
            self.choice = choice
            self._start_over()

    def _on_total(self, total: int) -> None:
        if not self.is_filtered:
            self._counted = (self.run_id, total)
        super()._on_total(total)

    def export_name(self) -> str:
        return "episodes"

    def make_fetch(self) -> Fetch[EpisodeRollup]:
        client, run_id, choice = self._link.client, self.run_id, self.choice
        chosen = msgspec.structs.asdict(choice)

        def fetch(first: int, count: int) -> Answer[EpisodeRollup]:
            page = client.episodes_page(run_id, first=first, count=count, **chosen)
            is_whole = choice == EpisodeQuery() and len(page.episodes) == PAGE_ROWS
            is_settled = is_whole and all(each.is_over for each in page.episodes)
            return Answer(page.episodes, page.total, is_settled)

        return fetch

    def text(self, row: EpisodeRollup, column: int) -> str:
        if column == EpisodeColumn.EPISODE:
            return run_text.integer(row.episode)
        if column == EpisodeColumn.RETURN:
            return run_text.number(row.total_return)
        if column == EpisodeColumn.STEPS:
            return run_text.integer(max(row.steps, row.reported_steps or 0))
        if column == EpisodeColumn.END:
            return end_words(row)
        return row.agent_id or ""

    def tone(self, row: EpisodeRollup, column: int) -> str:
        if column < EpisodeColumn.END:
            return "text"
        return "muted" if row.is_over or column != EpisodeColumn.END else "accent"

    def missing_text(self, number: int, column: int) -> str:  # noqa: ARG002 - of the base class
        return ""

    def csv_header(self) -> Sequence[str]:
        return _CSV_FIELDS

    def csv_batches(self) -> Iterable[Batch]:
        fetch = self.make_fetch()

        def batches() -> Iterator[Batch]:
            first = 0
            while rows := (answer := fetch(first, _CSV_ROWS)).rows:
                yield [msgspec.structs.astuple(row) for row in rows if row], answer.total
                first += len(rows)

        return batches()


def end_words(row: EpisodeRollup) -> str:
    if row.terminated:
        return "terminated"
    if row.truncated:
        return "truncated"
    return "over" if row.is_over else "going on"
