"""StepInFull: which step the panel at the right shows: of what is in front, or one selected."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gym_gui.app.screens import CENTRE_GROUPS, CentreTab
from mosaic.contract.events import StepRecord

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

_LIVE: tuple[CentreTab, ...] = ("live", "beliefs", *CENTRE_GROUPS["analyse"])
_PLAYED: tuple[CentreTab, ...] = ("grid", "frame", "raw", "video")
"""Where the step in full is that of the session."""


class StepInFull(QObject):
    """Made once, by `Navigation`."""

    def __init__(self, bench: "AppContext", parent: QObject) -> None:
        super().__init__(parent)
        self._window = bench.window
        self._analysis = bench.analysis
        self._inspector = bench.inspector
        self._models = models = bench.models
        self._selected: StepRecord | None = None
        self._selected_in: int | None = None
        """Its episode."""
        self._stays_replayed = False
        """Replay was in front last, and what is analysed since is the same run."""
        bench.steps_view.step_selected.connect(self._record_selected)
        bench.steps_view.bar.follow_changed.connect(self._on_follow_changed)
        models.live.steps.modelReset.connect(self.forget_selected)
        models.replay.step_changed.connect(self._show)
        models.live.changed.connect(partial(self._show_newest, _LIVE))
        models.play.step_view_changed.connect(partial(self._show_newest, _PLAYED))
        bench.window.centre.tab_changed.connect(self._on_tab_changed)
        bench.window.telemetry_tabs.currentChanged.connect(lambda _: self._show())

    def forget_selected(self) -> None:
        """The row is no longer there, or the newest ones are looked at again."""
        if self._selected is not None:
            self._selected = None
            self._show()

    def _record_selected(self, _run_id: str, episode: int, row: int) -> None:
        """A row of the table is what the person wants to see in full, until they follow again."""
        self._selected, self._selected_in = self._models.live.steps.row_at(row), episode
        self._stays_replayed = False
        self._show()

    def _on_tab_changed(self, name: str) -> None:
        if name not in CENTRE_GROUPS["analyse"]:
            self._stays_replayed = name == "replay" or self._shows_replayed_mind
        self._show()

    def _on_follow_changed(self, follows: bool) -> None:
        if follows:
            self.forget_selected()

    def _show(self) -> None:
        """It belongs to what is in front: replay, a run that is watched, or play."""
        inspector, tab = self._inspector, self._window.centre.current
        if not inspector.isVisible():
            return
        play, live = self._models.play, self._models.live
        if tab == "replay" or self._shows_replayed_mind or self._analyses_replayed_run:
            self._show_replayed()
        elif self._selected is not None:
            inspector.show_step(self._selected, live.environment, None, self._selected_in)
        elif tab not in _PLAYED:
            inspector.show_step(live.step, live.environment, None, live.episode_of_step)
        else:
            inspector.show_step(play.step, play.state.environment, play.score.total_return)

    @property
    def _shows_replayed_mind(self) -> bool:
        """The tab with the agent's mind is in front, and about the replayed step."""
        is_made = self._analysis.further_pages["beliefs"].page.is_made
        is_in_front = self._window.centre.current == "beliefs"
        return is_in_front and is_made and self._analysis.models.beliefs.follows_replay

    @property
    def _analyses_replayed_run(self) -> bool:
        """What was replayed last stays while the same run is analysed."""
        replay, is_analysed = self._models.replay, self._window.centre.group == "analyse"
        is_same_run = bool(replay.run_id) and replay.run_id == self._models.live.run_id
        is_there = replay.episode is not None
        return self._stays_replayed and is_analysed and is_same_run and is_there

    def _show_newest(self, tabs: tuple[CentreTab, ...]) -> None:
        """What happens behind other tabs, or after the step that was selected, changes nothing."""
        if self._selected is None and self._window.centre.current in tabs:
            self._show()

    def _show_replayed(self) -> None:
        replay, inspector = self._models.replay, self._inspector
        if replay.is_reading_step:
            return  # what was shown stays until the next one is there
        if replay.playhead == 0 and replay.start is not None:
            inspector.show_start(replay.start, replay.environment, replay.episode)
        else:
            inspector.show_step(
                replay.step, replay.environment, replay.return_so_far, replay.episode
            )
