"""EpisodesView and StepsView: the tables of the episodes of a run and the steps of an episode."""

from typing import get_args

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from gym_gui.live.model.episodes_table import SORT_ORDERS, EpisodeColumn, EpisodesTable
from gym_gui.live.model.steps_table import StepColumn, StepsTable
from gym_gui.live.view.table_page import TablePage
from gym_gui.runtime.models.formatting import format_integer
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.episodes import EpisodeStatus

_EPISODE_WIDTHS = (-4, -6, -4, -9, -8)
_STEP_WIDTHS = (-4, -7, -9, -6, -9)
_STATUSES: tuple[tuple[EpisodeStatus, str], ...] = (
    ("", "All"),
    ("over", "Finished"),
    ("terminated", "Terminated"),
    ("truncated", "Truncated"),
    ("open", "Running"),
)
assert {status for status, _ in _STATUSES} == set(get_args(EpisodeStatus))  # noqa: S101


class EpisodesView(TablePage):
    """Shows an `EpisodesTable`, with filters. Used by the right dock and the Live tab."""

    episode_activated = Signal(str, int)
    """Run id and episode number."""
    episode_selected = Signal(str, int)
    """Run id and episode number."""

    def __init__(
        self, table: EpisodesTable, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        self._episodes = table
        super().__init__(
            table, "episode", _EPISODE_WIDTHS, theme, parent, dispensable=(EpisodeColumn.END,)
        )
        self._status = QComboBox()
        for status, text in _STATUSES:
            self._status.addItem(text, status)
        self._status.setAccessibleName("Episode status")
        self._status.setToolTip("Show only episodes of this status")
        self._minimum = self._make_bound("return ≥", "Minimum return")
        self._maximum = self._make_bound("return ≤", "Maximum return")
        self.bar.add_filters(self._status, self._minimum, self._maximum)
        self._status.currentIndexChanged.connect(
            lambda _: table.filter_status(self._status.currentData())
        )
        for edit in (self._minimum, self._maximum):
            edit.editingFinished.connect(self._on_range_changed)
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

    def empty_text(self) -> tuple[str, str]:
        if not self._episodes.run_id:
            return "No run is selected", "Select a run in the list below."
        if self._episodes.is_filtered:
            return "No matching episodes", "Choose All, or clear the range of returns."
        return "No episodes yet", "They appear here as soon as the run starts one."

    def _show_agents(self) -> None:
        self.grid.set_column_used(EpisodeColumn.AGENT, self._episodes.has_agents)

    def _make_bound(self, placeholder: str, name: str) -> QLineEdit:
        edit = QLineEdit()
        edit.setPlaceholderText(placeholder)
        edit.setAccessibleName(name)
        edit.setToolTip(f"{name}; empty: any")
        edit.setFixedWidth(self.fontMetrics().averageCharWidth() * 13)
        return edit

    def _on_range_changed(self) -> None:
        self._episodes.filter_return(_parse_number(self._minimum), _parse_number(self._maximum))

    def _on_sorted(self, column: int, _order: Qt.SortOrder) -> None:
        if column not in SORT_ORDERS:
            header = self.grid.horizontalHeader()
            header.setSortIndicator(EpisodeColumn.EPISODE, Qt.SortOrder.AscendingOrder)

    def _on_activated(self, row: int) -> None:
        episode = self._episodes.row_at(row)
        if episode is not None:
            self.episode_activated.emit(self._episodes.run_id, episode.episode)

    def _on_selected(self, row: int) -> None:
        episode = self._episodes.row_at(row) if row >= 0 else None
        if episode is not None:
            self.episode_selected.emit(self._episodes.run_id, episode.episode)


class StepsView(TablePage):
    """Shows a `StepsTable`. Used by the right dock and the Live tab."""

    step_activated = Signal(str, int, int)
    """Run id, episode number and step number."""
    step_selected = Signal(str, int, int)
    """Run id, episode number and step number."""

    def __init__(self, table: StepsTable, theme: ThemeModel, parent: QWidget | None = None) -> None:
        self._steps = table
        super().__init__(table, "step", _STEP_WIDTHS, theme, parent, dispensable=(StepColumn.END,))
        self.grid.row_activated.connect(lambda row: self._emit_step(self.step_activated, row))
        self.grid.selectionModel().currentRowChanged.connect(
            lambda index, _: self._emit_step(self.step_selected, index.row())
        )
        table.changed.connect(self._update_title)
        self._update_title()

    def empty_text(self) -> tuple[str, str]:
        if not self._steps.run_id:
            return "No episode is selected", "Select an episode, or a running run."
        if steps := self._steps.unrecorded_steps:
            return "Its steps are not recorded", (
                f"The worker reported only the return of these {format_integer(steps)} steps. "
                "A run with Minimal telemetry records some episodes in full."
            )
        return "No steps yet", "They appear here as soon as the episode has some."

    def _update_title(self) -> None:
        episode = self._steps.episode
        self.bar.title.setText("" if episode is None else f"Episode {format_integer(episode)}")
        self.bar.title.setVisible(episode is not None)

    def _emit_step(self, signal: SignalInstance, row: int) -> None:
        episode = self._steps.episode
        if row >= 0 and episode is not None:
            signal.emit(self._steps.run_id, episode, row)


def _parse_number(edit: QLineEdit) -> float | None:
    """Return the typed number, or None. Marks the field if its text is not a number."""
    text = edit.text().strip().replace(",", ".").replace("\N{MINUS SIGN}", "-")
    try:
        value = float(text) if text else None
    except ValueError:
        value = None
    is_invalid = bool(text) and (value is None or value != value)
    edit.setProperty("invalid", is_invalid)
    edit.style().unpolish(edit)
    edit.style().polish(edit)
    return None if is_invalid else value
