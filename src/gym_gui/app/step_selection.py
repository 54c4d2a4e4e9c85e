"""StepSelection: selects the step that the inspector shows: of the current tab, or a table row."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gym_gui.app.screens import CENTRE_GROUPS, CentreTab
from mosaic.contract.events import StepRecord

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

_LIVE_TABS: tuple[CentreTab, ...] = ("live", "beliefs", *CENTRE_GROUPS["analyse"])
_SESSION_TABS: tuple[CentreTab, ...] = ("grid", "frame", "raw", "video")
"""Tabs for which the inspector shows the step of the session."""


class StepSelection(QObject):
    """Created by `Navigation`."""

    def __init__(self, context: "AppContext", parent: QObject) -> None:
        super().__init__(parent)
        self._window = context.window
        self._analysis = context.analysis
        self._inspector = context.inspector
        self._models = models = context.models
        self._selected: StepRecord | None = None
        self._selected_episode: int | None = None
        self._is_replay_recent = False
        """Whether Replay was the last tab before the analysis tabs."""
        context.steps_view.step_selected.connect(self._on_step_selected)
        context.steps_view.bar.follow_changed.connect(self._on_follow_changed)
        models.live.steps.modelReset.connect(self.clear_selected)
        models.replay.step_changed.connect(self._show)
        models.live.changed.connect(partial(self._show_newest, _LIVE_TABS))
        models.play.step_view_changed.connect(partial(self._show_newest, _SESSION_TABS))
        context.window.centre.tab_changed.connect(self._on_tab_changed)
        context.window.telemetry_tabs.currentChanged.connect(lambda _: self._show())

    def clear_selected(self) -> None:
        """Show the step of the current tab again."""
        if self._selected is not None:
            self._selected = None
            self._show()

    def _on_step_selected(self, _run_id: str, episode: int, row: int) -> None:
        """Show the step of a table row, until the table follows the newest step again."""
        self._selected, self._selected_episode = self._models.live.steps.row_at(row), episode
        self._is_replay_recent = False
        self._show()

    def _on_tab_changed(self, name: str) -> None:
        if name not in CENTRE_GROUPS["analyse"]:
            self._is_replay_recent = name == "replay" or self._shows_replayed_beliefs
        self._show()

    def _on_follow_changed(self, follows: bool) -> None:
        if follows:
            self.clear_selected()

    def _show(self) -> None:
        """Show the step of the current tab: of the replay, the live run or the session."""
        inspector, tab = self._inspector, self._window.centre.current
        if not inspector.isVisible():
            return
        play, live = self._models.play, self._models.live
        if tab == "replay" or self._shows_replayed_beliefs or self._analyses_replayed_run:
            self._show_replayed()
        elif self._selected is not None:
            inspector.show_step(self._selected, live.environment, None, self._selected_episode)
        elif tab not in _SESSION_TABS:
            inspector.show_step(live.step, live.environment, None, live.episode_of_step)
        else:
            inspector.show_step(play.step, play.state.environment, play.score.total_return)

    @property
    def _shows_replayed_beliefs(self) -> bool:
        """Whether the Beliefs tab is current and follows the replay."""
        is_created = self._analysis.worker_pages["beliefs"].page.is_created
        is_current = self._window.centre.current == "beliefs"
        return is_current and is_created and self._analysis.models.beliefs.follows_replay

    @property
    def _analyses_replayed_run(self) -> bool:
        """Whether the analysis tabs show the run that was replayed last."""
        replay, is_analysed = self._models.replay, self._window.centre.group == "analyse"
        is_same_run = bool(replay.run_id) and replay.run_id == self._models.live.run_id
        has_episode = replay.episode is not None
        return self._is_replay_recent and is_analysed and is_same_run and has_episode

    def _show_newest(self, tabs: tuple[CentreTab, ...]) -> None:
        """Show a new step, unless another tab is current or a row is selected."""
        if self._selected is None and self._window.centre.current in tabs:
            self._show()

    def _show_replayed(self) -> None:
        replay, inspector = self._models.replay, self._inspector
        if replay.is_reading_step:
            return  # keep the previous step until the next one is read
        if replay.playhead == 0 and replay.start is not None:
            inspector.show_start(replay.start, replay.environment, replay.episode)
        else:
            inspector.show_step(
                replay.step, replay.environment, replay.return_so_far, replay.episode
            )
