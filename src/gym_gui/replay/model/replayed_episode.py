"""ReplayedEpisode: all that is known of the episode that is replayed, as it comes in.

`ReplayModel` makes one per episode it opens, and asks it on every beat. It has no playhead.
"""

from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from gym_gui.replay.feed.replays import (
    EpisodeOpening,
    ReplayFrame,
    Replays,
    ReplayState,
)
from gym_gui.replay.model.replay_steps import ReplaySteps
from gym_gui.replay.model.replay_verdict import ReplayVerdict, verdict_of
from gym_gui.replay.model.reward_track import RewardTrack
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.playback import DEFAULT_FPS
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord
from mosaic.envs.catalog import environment as catalogued
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import Scene

if TYPE_CHECKING:
    from gym_gui.replay.feed.replays import EpisodeReplay

_KEEPS_STEPS_UP_TO = 5_000
"""Steps of an episode that is no longer than this are all kept as they are read."""


class ReplayedEpisode(QObject):
    """Threads of its own read rewards and draw pictures until `close`."""

    steps_arrived = Signal()
    """`step` may find what it did not find before."""

    def __init__(
        self,
        opening: EpisodeOpening,
        replays: Replays,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        cache_bytes: int,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.opening = opening
        self.track = RewardTrack()
        self.state = ReplayState()
        self._pulse = pulse
        self._notices = notices
        self._has_news = Event()
        self._reader = replays.parts(self.run_id, opening)
        self._replay: EpisodeReplay | None = None
        if not opening.details.not_replayable:
            self._replay = replays.open(self.run_id, self.number, cache_bytes, self._note_news)
        self._steps = ReplaySteps(
            lambda first, count: replays.steps(self.run_id, self.number, first, count),
            tasks,
            notices,
            self,
        )
        self._steps.arrived.connect(self.steps_arrived)

    @property
    def run_id(self) -> str:
        return self.opening.run.run.run_id

    @property
    def run_title(self) -> str:
        run = self.opening.run.run
        return run.name or f"{run.env_id} {run.algo}".strip()

    @property
    def number(self) -> int:
        return self.opening.rollup.episode

    @property
    def environment(self) -> EnvironmentEvent | None:
        return self.opening.environment

    @property
    def start(self) -> EpisodeStart | None:
        return self.opening.start

    @property
    def step_count(self) -> int:
        """As far as is known."""
        return max(self.opening.steps, self.state.steps, len(self.track))

    @property
    def fps(self) -> float:
        """How fast it was shown when it was played."""
        recorded = self.environment.render_fps if self.environment else None
        catalogue = catalogued(self.opening.run.run.env_id).render_fps
        return self.state.fps or recorded or catalogue or DEFAULT_FPS

    @property
    def verdict(self) -> ReplayVerdict:
        packages = self.environment.packages if self.environment else None
        return verdict_of(self.opening.details, self.state, packages)

    def picture_problem(self, frame: ReplayFrame | None) -> str:
        """Why there is no picture and none will come; empty otherwise. `frame` is what came."""
        if self.opening.details.not_replayable:
            return self.opening.details.not_replayable
        if frame is not None:
            return "" if frame.has_pixels else frame.problem
        return self.state.error.message if self.state.error else ""

    def scene(self, seen: StepRecord | EpisodeStart) -> Scene | None:
        """What the record alone lets one draw, where it says enough for that."""
        made, step = self.environment, seen if isinstance(seen, StepRecord) else None
        kwargs: Mapping[str, Any] | None = made.env_kwargs if made else None
        return scene_for(
            made.env_id if made else self.opening.run.run.env_id,
            kwargs,
            seen.obs,
            seen.render,
            action=step.action if step else None,
            is_over=step is not None and (step.terminated or step.truncated),
        )

    def seek(self, index: int) -> None:
        """Pictures around `index` are wanted most."""
        if self._replay is not None:
            self._replay.seek(index)

    def frame(self, index: int) -> ReplayFrame | None:
        """The picture, if it is in memory."""
        return self._replay.frame(index) if self._replay is not None else None

    def is_there(self, index: int) -> bool:
        """Whether a playhead that moves by itself may move there."""
        if self._replay is None or self.state.error is not None:
            return True
        return any(index in cached for cached in self.state.cached)

    def step(self, number: int) -> StepRecord | None:
        """The recorded step, if it is in memory; otherwise it is read."""
        return self._steps.get(number)

    def retry(self) -> None:
        """After an error of the simulation."""
        if self._replay is not None:
            self._replay.retry()
            self._note_news()

    def take_news(self) -> bool:
        """Take in what has come since the last beat. Whether anything has."""
        has_read = self._read_parts()
        if self._replay is None or not self._has_news.is_set():
            return has_read
        self._has_news.clear()
        self.state = self._replay.state
        return True

    @property
    def is_read(self) -> bool:
        """Whether all rewards are here."""
        return len(self.track) >= self.opening.steps

    def close(self) -> None:
        """Does not wait."""
        self._reader.close()
        if self._replay is not None:
            self._replay.close()

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether its threads have ended within the time."""
        self._reader.thread.join(timeout_s)
        has_ended = self._replay is None or self._replay.join(timeout_s)
        return has_ended and not self._reader.thread.is_alive()

    def _read_parts(self) -> bool:
        parts = self._reader.take()
        for part in parts:
            self.track.extend(part)
            if self.step_count <= _KEEPS_STEPS_UP_TO:
                self._steps.put(part.steps)
        if self._reader.error is not None:
            self._notices.fail(self._reader.error)
            self._reader.error = None
        return bool(parts)

    def _note_news(self) -> None:
        """On the replay's thread."""
        self._has_news.set()
        self._pulse.wake()
