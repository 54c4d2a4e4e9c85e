"""StepsView: the steps of an episode."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gym_gui.live.model.steps_table import StepColumn, StepsTable
from gym_gui.live.view.table_page import TablePage
from gym_gui.runtime.models.run_text import integer
from gym_gui.runtime.models.theme_model import ThemeModel

_WIDTHS = (-4, -7, -9, -6, -9)
_DISPENSABLE = (StepColumn.END,)
"""Only the last step has one, and the list of episodes says it as well."""


class StepsView(TablePage):
    """For the right dock and the Live tab."""

    step_chosen = Signal(str, int, int)
    """Run, episode and step that was activated."""
    step_selected = Signal(str, int, int)

    def __init__(self, table: StepsTable, theme: ThemeModel, parent: QWidget | None = None) -> None:
        self._steps = table
        super().__init__(table, "step", _WIDTHS, theme, parent, dispensable=_DISPENSABLE)
        self.grid.row_activated.connect(lambda row: self._tell(row, is_chosen=True))
        self.grid.selectionModel().currentRowChanged.connect(
            lambda index, _: self._tell(index.row(), is_chosen=False)
        )
        table.changed.connect(self._update_title)
        self._update_title()

    def empty_words(self) -> tuple[str, str]:
        if not self._steps.run_id:
            return "No episode is selected", "Choose an episode, or a run that is under way."
        if left_out := self._steps.left_out:
            title = "Its steps are not recorded"
            told = f"The worker told the return of these {integer(left_out)} steps, no more. "
            return title, f"{told}A run with Minimal telemetry records some episodes in full."
        return "No steps yet", "They appear here as soon as the episode goes on."

    def _update_title(self) -> None:
        episode = self._steps.episode
        self.bar.title.setText("" if episode is None else f"Episode {integer(episode)}")
        self.bar.title.setVisible(episode is not None)

    def _tell(self, row: int, *, is_chosen: bool) -> None:
        episode = self._steps.episode
        if row < 0 or episode is None:
            return
        signal = self.step_chosen if is_chosen else self.step_selected
        signal.emit(self._steps.run_id, episode, row)
