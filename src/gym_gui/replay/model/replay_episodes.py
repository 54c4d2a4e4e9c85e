"""ReplayEpisodes: the episodes of the run that is replayed, as a table; read as it is looked at.

A run may have a million of them: only pages that somebody has scrolled to are asked for.
"""

from collections import OrderedDict
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.replay.feed.replays import Replays
from gym_gui.runtime.models.actor_text import actors_words
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.number_text import fixed
from gym_gui.runtime.tasks import Tasks
from mosaic.contract.episodes import EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError

COLUMNS = ("#", "return", "steps", "actor")
_TIPS = (
    "Number of the episode",
    "Sum of its rewards",
    "How many steps it has",
    "Who acted: judged by a few of its steps until it is opened",
)
_PAGE = 50
_MOST_PAGES = 40
AnyIndex = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class ReplayEpisodes(QAbstractTableModel):
    """Rows are in the order of the episodes' numbers. `ReplayModel` makes it."""

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
        self._asked: set[int] = set()

    def show(self, run_id: str) -> None:
        """Of that run, or of none when it is empty. Nothing happens when it is shown already."""
        if run_id != self._run_id:
            self._run_id = run_id
            self._actors.clear()
            self._begin()

    def refresh(self) -> None:
        """Ask again what there is: a run that goes on has more."""
        if self._run_id:
            self._read(max(0, self._total - 1) // _PAGE)

    def note_actors(self, episode: int, actors: tuple[str, ...]) -> None:
        """Of an episode that was read in full."""
        if actors and self._actors.get(episode) != actors:
            self._actors[episode] = actors
            self._tell_changed(0, self._total)

    def episode_at(self, row: int) -> EpisodeRollup | None:
        page = self._pages.get(row // _PAGE, ())
        return page[row % _PAGE] if 0 <= row % _PAGE < len(page) else None

    def row_of(self, episode: int) -> int | None:
        """Numbers are consecutive in nearly every run, so its own number is where to look first."""
        for row in (episode, *(page * _PAGE + at for page in self._pages for at in range(_PAGE))):
            found = self.episode_at(row)
            if found is not None and found.episode == episode:
                return row
        return episode if episode < self._total else None

    # Qt's interface

    def rowCount(self, parent: AnyIndex = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else self._total

    def columnCount(self, parent: AnyIndex = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section == len(COLUMNS) - 1 else _RIGHT
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if index.column() == len(COLUMNS) - 1 else _RIGHT
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        found = self.episode_at(index.row())
        if found is None:
            self._read(index.row() // _PAGE)
            return "…" if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return _ending(found)
        return self._text(found, index.column())

    def _text(self, found: EpisodeRollup, column: int) -> str:
        if column == 0:
            return f"{found.episode:,}"
        if column == 1:
            total = found.total_return if found.reported_return is None else found.reported_return
            return fixed(total)
        if column == 2:
            return f"{max(found.steps, found.reported_steps or 0):,}"
        actors = self._actors.get(found.episode)
        return "…" if actors is None else actors_words(actors)

    # How it comes about

    def _begin(self) -> None:
        self.beginResetModel()
        self._ticket += 1
        self._total = 0
        self._pages.clear()
        self._asked.clear()
        self.endResetModel()
        if self._run_id:
            self._read(0)

    def _read(self, page: int) -> None:
        if page in self._asked:
            return
        self._asked.add(page)
        run_id, ticket = self._run_id, self._ticket
        self._tasks.run(
            self,
            lambda: self._replays.episodes(run_id, page * _PAGE, _PAGE),
            lambda found: self._take(ticket, page, found),
            lambda error: self._lose(ticket, page, error),
        )

    def _lose(self, ticket: int, page: int, error: UserError) -> None:
        if ticket == self._ticket:
            self._asked.discard(page)  # it is asked for again when somebody looks
            self._notices.fail(error)

    def _take(self, ticket: int, page: int, found: EpisodePage) -> None:
        if ticket != self._ticket:
            return
        self._asked.discard(page)
        if found.total > self._total:
            self.beginInsertRows(_NOWHERE, self._total, found.total - 1)
            self._total = found.total
            self.endInsertRows()
        self._pages[page] = found.episodes
        while len(self._pages) > _MOST_PAGES:
            self._pages.popitem(last=False)
        self._tell_changed(page * _PAGE, (page + 1) * _PAGE)
        unknown = tuple(each for each in found.episodes if each.episode not in self._actors)
        run_id = self._run_id
        if unknown:
            self._tasks.run(
                self,
                lambda: self._replays.actors(run_id, unknown),
                lambda actors: self._take_actors(ticket, page, actors),
                lambda _: None,  # the column keeps its dots
            )

    def _take_actors(self, ticket: int, page: int, actors: dict[int, tuple[str, ...]]) -> None:
        if ticket == self._ticket:
            # What was read in full is known better.
            self._actors = {**actors, **self._actors}
            self._tell_changed(page * _PAGE, (page + 1) * _PAGE)

    def _tell_changed(self, first: int, end: int) -> None:
        end = min(end, self._total)
        if first < end:
            self.dataChanged.emit(self.index(first, 0), self.index(end - 1, len(COLUMNS) - 1))


def _ending(found: EpisodeRollup) -> str:
    if not found.is_over:
        return "Not over yet, or cut off"
    return "Ended by its time limit" if found.truncated else "Ended by itself"
