"""EpisodesView: the episodes of a run, sorted and filtered as one likes."""

from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from gym_gui.live.model.episodes_table import ORDERS, EpisodeColumn, EpisodesTable
from gym_gui.live.view.table_page import TablePage
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.episodes import EpisodeStatus

_WIDTHS = (-4, -6, -4, -9, -8)
_DISPENSABLE = (EpisodeColumn.END,)
_ENDINGS: tuple[tuple[EpisodeStatus, str], ...] = (
    ("", "All"),
    ("over", "Finished"),
    ("terminated", "Terminated"),
    ("truncated", "Truncated"),
    ("open", "Going on"),
)
assert {each for each, _ in _ENDINGS} == set(get_args(EpisodeStatus))  # noqa: S101 - none is left out


class EpisodesView(TablePage):
    """For the right dock and the Live tab."""

    episode_chosen = Signal(str, int)
    """Run and number of an episode that was activated."""
    episode_selected = Signal(str, int)
    """Run and number of the one that the person looks at."""

    def __init__(
        self, table: EpisodesTable, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        self._episodes = table
        super().__init__(table, "episode", _WIDTHS, theme, parent, dispensable=_DISPENSABLE)
        self._ending = QComboBox()
        for ending, text in _ENDINGS:
            self._ending.addItem(text, ending)
        self._ending.setAccessibleName("Which episodes")
        self._ending.setToolTip("Show only episodes that ended so")
        self._least = self._bound("return ≥", "Least return")
        self._most = self._bound("return ≤", "Greatest return")
        self.bar.add_filters(self._ending, self._least, self._most)
        self._ending.currentIndexChanged.connect(lambda _: table.only(self._ending.currentData()))
        for line in (self._least, self._most):
            line.editingFinished.connect(self._on_range_changed)
        header = self.grid.horizontalHeader()
        header.setSortIndicator(EpisodeColumn.EPISODE, Qt.SortOrder.AscendingOrder)
        self.grid.setSortingEnabled(True)
        header.setSortIndicatorShown(False)
        header.sortIndicatorChanged.connect(self._on_sorted)
        table.dataChanged.connect(lambda *_: self._show_agents())
        self._show_agents()
        self.grid.row_activated.connect(self._on_activated)
        self.grid.selectionModel().currentRowChanged.connect(
            lambda index, _: self._on_selected(index.row())
        )

    def empty_words(self) -> tuple[str, str]:
        if not self._episodes.run_id:
            return "No run is selected", "Choose a run in the list below."
        if self._episodes.is_filtered:
            return "No episode matches", "Choose All, or empty the range of returns."
        return "No episodes yet", "They appear here as soon as the run begins one."

    def _show_agents(self) -> None:
        self.grid.use_column(EpisodeColumn.AGENT, self._episodes.has_agents)

    def _bound(self, hint: str, name: str) -> QLineEdit:
        line = QLineEdit()
        line.setPlaceholderText(hint)
        line.setAccessibleName(name)
        line.setToolTip(f"{name}; empty: any")
        line.setFixedWidth(self.fontMetrics().averageCharWidth() * 13)
        return line

    def _on_range_changed(self) -> None:
        self._episodes.between(_number(self._least), _number(self._most))

    def _on_sorted(self, column: int, _order: Qt.SortOrder) -> None:
        if column not in ORDERS:
            header = self.grid.horizontalHeader()
            header.setSortIndicator(EpisodeColumn.EPISODE, Qt.SortOrder.AscendingOrder)

    def _on_activated(self, row: int) -> None:
        episode = self._episodes.row_at(row)
        if episode is not None:
            self.episode_chosen.emit(self._episodes.run_id, episode.episode)

    def _on_selected(self, row: int) -> None:
        episode = self._episodes.row_at(row) if row >= 0 else None
        if episode is not None:
            self.episode_selected.emit(self._episodes.run_id, episode.episode)


def _number(line: QLineEdit) -> float | None:
    """What was typed, or None; what is no number is marked and counts as nothing."""
    text = line.text().strip().replace(",", ".").replace("\N{MINUS SIGN}", "-")
    try:
        value = float(text) if text else None
    except ValueError:
        value = None
    is_wrong = bool(text) and (value is None or value != value)
    line.setProperty("invalid", is_wrong)
    line.style().unpolish(line)
    line.style().polish(line)
    return None if is_wrong else value
