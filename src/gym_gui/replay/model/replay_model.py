"""ReplayModel: one recorded episode on the screen, and the playhead that moves in it.

The Replay tab and the step inspector show it; the runs list opens episodes in it. It never waits:
what is known is shown, and what is not comes with a later beat.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from gym_gui.replay.feed.replays import (
    EpisodeOpening,
    ExportFormat,
    Outstanding,
    ReplayFrame,
    Replays,
    ReplayState,
)
from gym_gui.replay.model.replay_episodes import ReplayEpisodes
from gym_gui.replay.model.replay_exports import ReplayExports
from gym_gui.replay.model.replay_verdict import ReplayVerdict
from gym_gui.replay.model.replayed_episode import ReplayedEpisode
from gym_gui.replay.model.reward_track import RewardTrack
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.playback import Playback
from gym_gui.runtime.models.playhead_model import PlayheadModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.runtime.video_files import VideoFile
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord
from mosaic.envs.scenes.scene import Scene

__all__ = ["ExportFormat", "Outstanding", "ReplayModel", "ReplayPhase"]

ReplayPhase = Literal["empty", "loading", "ready", "failed"]

_DEFAULT_CACHE_BYTES = 256 << 20


class ReplayModel(PlayheadModel):
    """Made once, by the wiring. Playhead k is what is seen after k steps."""

    step_changed = Signal()
    """`step` or `return_so_far` is another one."""
    episode_changed = Signal()
    """Another episode, or none."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        parent: QObject | None = None,
        *,
        exports: Path | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`exports` is the folder for exported files; None: `exports` in the home."""
        super().__init__(pulse, parent)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._now = now
        self._replays = Replays(link, pulse.wake)
        self.episodes = ReplayEpisodes(self._replays, tasks, notices, self)
        folder = exports or link.home.path / "exports"
        self.exports = ReplayExports(self._replays, folder, tasks, pulse, notices, self)
        self.cache_bytes = _DEFAULT_CACHE_BYTES
        """For pictures of the episodes that are opened from now on."""
        self.phase: ReplayPhase = "empty"
        self.problem: UserError | None = None
        self.frame: ReplayFrame | None = None
        """The newest picture that was there; that of the playhead when `is_frame_current`."""
        self.step: StepRecord | None = None
        """The one that led to the playhead; None at the start, and while it is being read."""
        self._wanted: tuple[str, int | None] | None = None
        self._begin_at = 0
        self._ticket = 0
        self._shown: ReplayedEpisode | None = None
        self._ended: list[ReplayedEpisode] = []
        link.connected.connect(self._open_wanted)
        link.recovered.connect(self.retry)
        pulse.subscribe(self, self._on_beat)

    # What is shown

    @property
    def run_id(self) -> str:
        return self._wanted[0] if self._wanted else ""

    @property
    def run_title(self) -> str:
        return self._shown.run_title if self._shown else ""

    @property
    def episode(self) -> int | None:
        """The number; None while it is not known which one is shown."""
        return self._shown.number if self._shown else None

    @property
    def opening(self) -> EpisodeOpening | None:
        return self._shown.opening if self._shown else None

    @property
    def environment(self) -> EnvironmentEvent | None:
        return self._shown.environment if self._shown else None

    @property
    def start(self) -> EpisodeStart | None:
        """How the episode began."""
        return self._shown.start if self._shown else None

    @property
    def steps(self) -> int:
        """How many the episode has, as far as is known."""
        return self._shown.step_count if self._shown else 0

    @property
    def track(self) -> RewardTrack:
        return self._shown.track if self._shown else RewardTrack()

    @property
    def state(self) -> ReplayState:
        return self._shown.state if self._shown else ReplayState()

    @property
    def verdict(self) -> ReplayVerdict | None:
        return self._shown.verdict if self._shown else None

    @property
    def is_reading_step(self) -> bool:
        """Whether `step` is None only because it is still on its way."""
        return self.step is None and self.playhead > 0

    @property
    def return_so_far(self) -> float | None:
        return self.track.return_after(self.playhead)

    @property
    def can_play(self) -> bool:
        return bool(self.steps)

    @property
    def is_frame_current(self) -> bool:
        return self.frame is not None and self.frame.index == self.playhead

    def is_there(self, index: int) -> bool:
        """Whether a playhead that moves by itself may move there; nothing is waited for without
        an episode."""
        return self._shown is None or self._shown.is_there(index)

    @property
    def picture_problem(self) -> str:
        """Why there is no picture at the playhead and none will come; empty otherwise."""
        if self._shown is None:
            return ""
        return self._shown.picture_problem(self.frame if self.is_frame_current else None)

    @property
    def scene(self) -> Scene | None:
        """What the record alone lets one draw at the playhead, where it says enough for that."""
        seen = self.step if self.playhead else self.start
        return self._shown.scene(seen) if self._shown is not None and seen is not None else None

    @property
    def videos(self) -> tuple[VideoFile, ...]:
        """What the run has recorded, to be played in the Video tab."""
        return self._shown.opening.videos if self._shown else ()

    # What a person does

    def open(self, run_id: str, episode: int | None = None) -> None:
        """Show an episode; without a number the newest finished one."""
        self._drop()
        self._wanted = (run_id, episode)
        self.phase = "loading"
        self._tell_all()
        self._open_wanted()

    def open_outstanding(self, which: Outstanding) -> None:
        """The run's best, worst or longest finished episode."""
        run_id = self.run_id
        if run_id and self._link.has_client:
            self._tasks.run(
                self,
                lambda: self._replays.outstanding(run_id, which),
                lambda episode: self.open(run_id, episode) if run_id == self.run_id else None,
            )

    def export(self, kind: ExportFormat, *, captions: bool = False) -> None:
        """The episode into a file; `exports` says how far that is."""
        if self._shown is not None:
            run_id, number = self._shown.run_id, self._shown.number
            self.exports.start(run_id, number, self.run_title, kind, captions=captions)

    def retry(self) -> None:
        """After something failed: again, with what is there."""
        if self._shown is not None and self.state.error is not None:
            self._shown.retry()
        elif self.phase == "failed" and self._wanted is not None:
            self.open(*self._wanted)

    def seek(self, index: int) -> None:
        """Move the playhead; a picture in memory is shown before this returns.

        While the episode is being opened it is remembered: that is where the episode begins then.
        """
        self._begin_at = index
        super().seek(index)

    def close(self) -> None:
        """Show nothing, and end what runs for it; does not wait."""
        self._drop()
        self._wanted = None
        self.exports.close()
        self.episodes.show("")
        self._tell_all()

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether all threads have ended."""
        has_ended = [each.join(timeout_s) for each in self._ended]
        return self.exports.join(timeout_s) and all(has_ended)

    # How it comes about

    def _drop(self) -> None:
        self._ticket += 1
        if self._shown is not None:
            self._shown.close()
            self._shown.deleteLater()
            self._ended = [each for each in (*self._ended, self._shown) if not each.join(0.0)]
        self._shown = self.frame = self.step = self.problem = None
        self._begin_at = 0
        self.phase = "empty"
        before, self.playback = self.playback, Playback()
        self.playback.speed, self.playback.is_looping = before.speed, before.is_looping

    def _tell_all(self) -> None:
        self.episode_changed.emit()
        self.playhead_changed.emit()
        self.step_changed.emit()
        self.changed.emit()

    def _open_wanted(self) -> None:
        if self._wanted is None or not self._link.has_client or self.phase != "loading":
            return
        (run_id, episode), ticket = self._wanted, self._ticket
        self.episodes.show(run_id)
        self._tasks.run(
            self,
            lambda: self._replays.opening(run_id, episode),
            lambda opening: self._take_opening(ticket, opening),
            lambda error: self._take_failure(ticket, error),
        )

    def _take_failure(self, ticket: int, error: UserError) -> None:
        if ticket == self._ticket:
            self.phase, self.problem = "failed", error
            self.changed.emit()

    def _take_opening(self, ticket: int, opening: EpisodeOpening) -> None:
        if ticket != self._ticket:
            return
        self.phase = "ready"
        shown = ReplayedEpisode(
            opening,
            self._replays,
            self._tasks,
            self._pulse,
            self._notices,
            self.cache_bytes,
            self,
        )
        shown.steps_arrived.connect(self._update_step)
        self._shown = shown
        self._take_length(shown)
        self.playback.move_to(self._begin_at)
        self._tell_all()
        self._show_playhead()

    def _on_beat(self) -> bool:
        shown, playback = self._shown, self.playback
        if shown is None:
            return False
        has_news = shown.take_news()
        if has_news:
            self._take_length(shown)
            if not self.is_frame_current:
                self._take_frame()
            if self.playhead and self.step is None:
                self._update_step()
            if shown.is_read:
                self.episodes.note_actors(shown.number, shown.track.everyone)
        before = (playback.is_playing, playback.is_waiting)
        if playback.advance(self._now(), shown.is_there):
            self._show_playhead()
        if has_news or before != (playback.is_playing, playback.is_waiting):
            self.changed.emit()
        return has_news or playback.is_playing

    def _take_length(self, shown: ReplayedEpisode) -> None:
        self.playback.last = shown.step_count
        self.playback.fps = shown.fps

    def _show_playhead(self) -> None:
        if self._shown is not None:
            self._shown.seek(self.playhead)
        if not self._take_frame():
            self.playhead_changed.emit()
        self._update_step()

    def _take_frame(self) -> bool:
        found = self._shown.frame(self.playhead) if self._shown is not None else None
        if found is None:
            return False
        self.frame = found
        self.playhead_changed.emit()
        return True

    def _update_step(self) -> None:
        number = self.playhead - 1
        self.step = self._shown.step(number) if self._shown is not None and number >= 0 else None
        self.step_changed.emit()
