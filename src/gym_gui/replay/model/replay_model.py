"""ReplayModel: one recorded episode and its playhead.

Shown by the Replay tab and the step inspector. It never blocks: missing data arrives with a later
tick.
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
from gym_gui.replay.model.replay_status import ReplayStatus
from gym_gui.replay.model.replayed_episode import ReplayedEpisode
from gym_gui.replay.model.reward_track import RewardTrack
from gym_gui.runtime.models.playback import Playback, PlayheadModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.run_metadata import VideoFile
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord
from mosaic.envs.scenes.scene import Scene

__all__ = ["ExportFormat", "Outstanding", "ReplayModel", "ReplayPhase"]

ReplayPhase = Literal["empty", "loading", "ready", "failed"]

_DEFAULT_CACHE_BYTES = 256 << 20


class ReplayModel(PlayheadModel):
    """Created once, by the wiring. Playhead k is the state after k steps."""

    step_changed = Signal()
    """`step` or `return_so_far` changed."""
    episode_changed = Signal()
    """Another episode was opened, or the episode was closed."""

    def __init__(
        self,
        services: Services,
        parent: QObject | None = None,
        *,
        exports: Path | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`exports` is the folder for exported files. Default: `exports` in the home."""
        super().__init__(services.ticker, parent)
        self._services = services
        self._now = now
        self._replays = Replays(services.link, services.ticker.wake)
        self.episodes = ReplayEpisodes(self._replays, services.tasks, services.notices, self)
        folder = exports or services.link.home.exports
        self.exports = ReplayExports(self._replays, folder, services, self)
        self.cache_bytes = _DEFAULT_CACHE_BYTES
        """Size of the frame cache of episodes opened from now on."""
        self.phase: ReplayPhase = "empty"
        self.problem: UserError | None = None
        self.frame: ReplayFrame | None = None
        """The newest available frame; the frame of the playhead if `is_frame_current`."""
        self.step: StepRecord | None = None
        """The step before the playhead; None at the start and while it is being read."""
        self._requested: tuple[str, int | None] | None = None
        self._start_index = 0
        self._ticket = 0
        self._episode: ReplayedEpisode | None = None
        self._ended: list[ReplayedEpisode] = []
        services.link.connected.connect(self._open_requested)
        services.link.recovered.connect(self.retry)
        services.ticker.subscribe(self, self._on_tick)

    # Displayed state

    @property
    def run_id(self) -> str:
        return self._requested[0] if self._requested else ""

    @property
    def run_title(self) -> str:
        return self._episode.run_title if self._episode else ""

    @property
    def episode(self) -> int | None:
        """Episode number; None until the episode is open."""
        return self._episode.number if self._episode else None

    @property
    def opening(self) -> EpisodeOpening | None:
        return self._episode.opening if self._episode else None

    @property
    def environment(self) -> EnvironmentEvent | None:
        return self._episode.environment if self._episode else None

    @property
    def start(self) -> EpisodeStart | None:
        """The start record of the episode."""
        return self._episode.start if self._episode else None

    @property
    def steps(self) -> int:
        """Number of steps known so far."""
        return self._episode.step_count if self._episode else 0

    @property
    def track(self) -> RewardTrack:
        return self._episode.track if self._episode else RewardTrack()

    @property
    def state(self) -> ReplayState:
        return self._episode.state if self._episode else ReplayState()

    @property
    def status(self) -> ReplayStatus | None:
        return self._episode.status if self._episode else None

    @property
    def is_reading_step(self) -> bool:
        """Whether `step` is None because it is being read."""
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

    def is_available(self, index: int) -> bool:
        """Whether playback may move to the index; True without an episode."""
        return self._episode is None or self._episode.is_available(index)

    @property
    def frame_problem(self) -> str:
        """Why there is no frame at the playhead; empty while a frame is expected."""
        if self._episode is None:
            return ""
        return self._episode.frame_problem(self.frame if self.is_frame_current else None)

    @property
    def scene(self) -> Scene | None:
        """The scene at the playhead, from recorded data only; None where that is not enough."""
        seen = self.step if self.playhead else self.start
        return self._episode.scene(seen) if self._episode is not None and seen is not None else None

    @property
    def videos(self) -> tuple[VideoFile, ...]:
        """Video files of the run."""
        return self._episode.opening.videos if self._episode else ()

    # Commands

    def open(self, run_id: str, episode: int | None = None) -> None:
        """Open an episode. Default: the newest finished episode."""
        self._drop()
        self._requested = (run_id, episode)
        self.phase = "loading"
        self._emit_all()
        self._open_requested()

    def open_outstanding(self, which: Outstanding) -> None:
        """Open the best, worst or longest finished episode of the run."""
        run_id = self.run_id
        if run_id and self._services.link.has_client:
            self._services.tasks.run(
                self,
                lambda: self._replays.outstanding(run_id, which),
                lambda episode: self.open(run_id, episode) if run_id == self.run_id else None,
            )

    def export(self, kind: ExportFormat, *, captions: bool = False) -> None:
        """Export the episode; `exports` has the progress."""
        if self._episode is not None:
            run_id, number = self._episode.run_id, self._episode.number
            self.exports.start(run_id, number, self.run_title, kind, captions=captions)

    def retry(self) -> None:
        """Retry after an error."""
        if self._episode is not None and self.state.error is not None:
            self._episode.retry()
        elif self.phase == "failed" and self._requested is not None:
            self.open(*self._requested)

    def seek(self, index: int) -> None:
        """Move the playhead; a cached frame is shown before this returns.

        While the episode is being opened, this sets the first playhead position.
        """
        self._start_index = index
        super().seek(index)

    def close(self) -> None:
        """Close the episode and stop its threads; does not wait."""
        self._drop()
        self._requested = None
        self.exports.close()
        self.episodes.show("")
        self._emit_all()

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether all threads have ended."""
        has_ended = [ended.join(timeout_s) for ended in self._ended]
        return self.exports.join(timeout_s) and all(has_ended)

    # Internals

    def _drop(self) -> None:
        self._ticket += 1
        if self._episode is not None:
            self._episode.close()
            self._episode.deleteLater()
            self._ended = [ended for ended in (*self._ended, self._episode) if not ended.join(0.0)]
        self._episode = self.frame = self.step = self.problem = None
        self._start_index = 0
        self.phase = "empty"
        before, self.playback = self.playback, Playback()
        self.playback.speed, self.playback.is_looping = before.speed, before.is_looping

    def _emit_all(self) -> None:
        self.episode_changed.emit()
        self.playhead_changed.emit()
        self.step_changed.emit()
        self.changed.emit()

    def _open_requested(self) -> None:
        if self._requested is None or not self._services.link.has_client or self.phase != "loading":
            return
        (run_id, episode), ticket = self._requested, self._ticket
        self.episodes.show(run_id)
        self._services.tasks.run(
            self,
            lambda: self._replays.opening(run_id, episode),
            lambda opening: self._handle_opening(ticket, opening),
            lambda error: self._handle_failure(ticket, error),
        )

    def _handle_failure(self, ticket: int, error: UserError) -> None:
        if ticket == self._ticket:
            self.phase, self.problem = "failed", error
            self.changed.emit()

    def _handle_opening(self, ticket: int, opening: EpisodeOpening) -> None:
        if ticket != self._ticket:
            return
        self.phase = "ready"
        episode = ReplayedEpisode(opening, self._replays, self._services, self.cache_bytes, self)
        episode.steps_arrived.connect(self._update_step)
        self._episode = episode
        self._update_length(episode)
        self.playback.move_to(self._start_index)
        self._emit_all()
        self._on_playhead_moved()

    def _on_tick(self) -> bool:
        episode, playback = self._episode, self.playback
        if episode is None:
            return False
        has_updates = episode.drain_updates()
        if has_updates:
            self._update_length(episode)
            if not self.is_frame_current:
                self._update_frame()
            if self.playhead and self.step is None:
                self._update_step()
            if episode.is_read:
                self.episodes.set_actors(episode.number, episode.track.all_actors)
        before = (playback.is_playing, playback.is_waiting)
        if playback.advance(self._now(), episode.is_available):
            self._on_playhead_moved()
        if has_updates or before != (playback.is_playing, playback.is_waiting):
            self.changed.emit()
        return has_updates or playback.is_playing

    def _update_length(self, episode: ReplayedEpisode) -> None:
        self.playback.last = episode.step_count
        self.playback.fps = episode.fps

    def _on_playhead_moved(self) -> None:
        if self._episode is not None:
            self._episode.seek(self.playhead)
        if not self._update_frame():
            self.playhead_changed.emit()
        self._update_step()

    def _update_frame(self) -> bool:
        frame = self._episode.frame(self.playhead) if self._episode is not None else None
        if frame is None:
            return False
        self.frame = frame
        self.playhead_changed.emit()
        return True

    def _update_step(self) -> None:
        number = self.playhead - 1
        self.step = (
            self._episode.step(number) if self._episode is not None and number >= 0 else None
        )
        self.step_changed.emit()
