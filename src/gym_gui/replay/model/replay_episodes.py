"""ReplayEpisodes: table model of the episodes of the replayed run.

A run may have a million episodes, so only visible pages are read.
"""

from collections import OrderedDict
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt

from gym_gui.replay.feed.replays import Replays
from gym_gui.runtime.models.formatting import format_fixed
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.run_text import actors_label
from gym_gui.runtime.models.table_model import Column, Index, TableModel
from gym_gui.runtime.tasks import Tasks
from mosaic.contract.episodes import EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError

NUMBER, RETURN, STEPS, ACTOR = range(4)
"""Columns."""
_PAGE = 50
_MAX_PAGES = 40


class ReplayEpisodes(TableModel):
    """Rows are ordered by episode number. Created by `ReplayModel`."""

    COLUMNS = (
        Column("#", "Episode number", is_number=True),
        Column("return", "Sum of its rewards", is_number=True),
        Column("steps", "Number of steps", is_number=True),
        Column("actor", "Actors; estimated from a few steps until the episode is opened"),
    )

    def __init__(
        self, replays: Replays, tasks: Tasks, notices: Notices, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._replays = replays
        self._tasks = tasks
        self._notices = notices
        self._run_id = ""
        self._ticket = 0
        self._total = 0
        self._pages: OrderedDict[int, tuple[EpisodeRollup, ...]] = OrderedDict()
        self._actors: dict[int, tuple[str, ...]] = {}
        self._requested_pages: set[int] = set()

    def show(self, run_id: str) -> None:
        """Show the episodes of a run; an empty id clears the table."""
        if run_id != self._run_id:
            self._run_id = run_id
            self._actors.clear()
            self._reset()

    def refresh(self) -> None:
        """Read new episodes of a running run."""
        if self._run_id:
            self._read(max(0, self._total - 1) // _PAGE)

    def set_actors(self, episode: int, actors: tuple[str, ...]) -> None:
        """Set the actors of an episode that was read completely."""
        if actors and self._actors.get(episode) != actors:
            self._actors[episode] = actors
            self._emit_changed(0, self._total)

    def episode_at(self, row: int) -> EpisodeRollup | None:
        page = self._pages.get(row // _PAGE, ())
        return page[row % _PAGE] if 0 <= row % _PAGE < len(page) else None

    def row_of(self, episode: int) -> int | None:
        """Find the row of an episode. Numbers are usually consecutive, so try that row first."""
        for row in (episode, *(page * _PAGE + at for page in self._pages for at in range(_PAGE))):
            rollup = self.episode_at(row)
            if rollup is not None and rollup.episode == episode:
                return row
        return episode if episode < self._total else None

    # Qt's interface

    def row_count(self) -> int:
        return self._total

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        rollup = self.episode_at(index.row())
        if rollup is None:
            self._read(index.row() // _PAGE)
            return "…" if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return _end_text(rollup)
        return self._text(rollup, index.column())

    def _text(self, rollup: EpisodeRollup, column: int) -> str:
        if column == 0:
            return f"{rollup.episode:,}"
        if column == 1:
            total = (
                rollup.total_return if rollup.reported_return is None else rollup.reported_return
            )
            return format_fixed(total)
        if column == 2:
            return f"{max(rollup.steps, rollup.reported_steps or 0):,}"
        actors = self._actors.get(rollup.episode)
        return "…" if actors is None else actors_label(actors)

    # Reading

    def _reset(self) -> None:
        self.beginResetModel()
        self._ticket += 1
        self._total = 0
        self._pages.clear()
        self._requested_pages.clear()
        self.endResetModel()
        if self._run_id:
            self._read(0)

    def _read(self, page: int) -> None:
        if page in self._requested_pages:
            return
        self._requested_pages.add(page)
        run_id, ticket = self._run_id, self._ticket
        self._tasks.run(
            self,
            lambda: self._replays.episodes(run_id, page * _PAGE, _PAGE),
            lambda result: self._apply_page(ticket, page, result),
            lambda error: self._handle_error(ticket, page, error),
        )

    def _handle_error(self, ticket: int, page: int, error: UserError) -> None:
        if ticket == self._ticket:
            self._requested_pages.discard(page)  # requested again when it becomes visible
            self._notices.post_error(error)

    def _apply_page(self, ticket: int, page: int, result: EpisodePage) -> None:
        if ticket != self._ticket:
            return
        self._requested_pages.discard(page)
        if result.total > self._total:
            self.beginInsertRows(QModelIndex(), self._total, result.total - 1)
            self._total = result.total
            self.endInsertRows()
        self._pages[page] = result.episodes
        while len(self._pages) > _MAX_PAGES:
            self._pages.popitem(last=False)
        self._emit_changed(page * _PAGE, (page + 1) * _PAGE)
        unknown = tuple(rollup for rollup in result.episodes if rollup.episode not in self._actors)
        run_id = self._run_id
        if unknown:
            self._tasks.run(
                self,
                lambda: self._replays.actors(run_id, unknown),
                lambda actors: self._apply_actors(ticket, page, actors),
                lambda _: None,  # the column keeps the ellipsis
            )

    def _apply_actors(self, ticket: int, page: int, actors: dict[int, tuple[str, ...]]) -> None:
        if ticket == self._ticket:
            # Completely read episodes take precedence.
            self._actors = {**actors, **self._actors}
            self._emit_changed(page * _PAGE, (page + 1) * _PAGE)

    def _emit_changed(self, first: int, end: int) -> None:
        end = min(end, self._total)
        if first < end:
            self.dataChanged.emit(self.index(first, 0), self.index(end - 1, len(self.COLUMNS) - 1))


def _end_text(rollup: EpisodeRollup) -> str:
    if not rollup.is_over:
        return "Not finished"
    return "Truncated by the time limit" if rollup.truncated else "Terminated"
