"""RunsFilter: the runs that match a few words, in the order of a column. For the list of runs."""

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt

from gym_gui.models import run_words
from gym_gui.models.runs_model import SORT_ROLE, RunColumn, RunsModel
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex


class RunsFilter(QSortFilterProxyModel):
    """The newest first, until another column is chosen."""

    def __init__(self, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shows_archived = False
        self._words: tuple[str, ...] = ()
        self.setSourceModel(runs)
        self.setSortRole(SORT_ROLE)
        self.setDynamicSortFilter(True)
        self.sort(RunColumn.RUN, Qt.SortOrder.DescendingOrder)

    def look_for(self, text: str) -> None:
        """Each word must stand somewhere in name, id, environment, algorithm, tags or state."""
        self._words = tuple(text.casefold().split())
        self.invalidate()

    def show_archived(self, shows: bool) -> None:
        self.shows_archived = shows
        self.invalidate()

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """With an arrow where it is sorted: the header's own would lie on numbers' headings."""
        shown = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and section == self.sortColumn():
            is_down = self.sortOrder() is Qt.SortOrder.DescendingOrder
            return f"{shown} {'↓' if is_down else '↑'}"
        return shown

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:  # noqa: N802 - Qt's name
        source = self.sourceModel()
        assert isinstance(source, RunsModel)  # noqa: S101 - given in the constructor
        run = source.run(row)
        if run.archived and not self.shows_archived:
            return False
        if not self._words:
            return True
        haystack = _haystack(run)
        return all(word in haystack for word in self._words)


def _haystack(run: RunRecord) -> str:
    look = run_words.STATE_LOOKS[run.state]
    return " ".join(
        (
            *(run.name, run.run_id, run.env_id, run.algo, run.mode),
            *(run.worker, run_words.worker_word(run.worker), *run.tags, look.word, run.state),
            run_words.title_of(run),
        )
    ).casefold()
