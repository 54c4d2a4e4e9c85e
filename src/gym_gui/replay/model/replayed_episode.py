"""ReplayedEpisode: the data of the replayed episode as it arrives.

`ReplayModel` creates one per opened episode and polls it on every tick. It has no playhead.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from gym_gui.replay.feed.replays import (
    EpisodeOpening,
    ReplayFrame,
    Replays,
    ReplayState,
)
from gym_gui.replay.model.replay_status import ReplayStatus, replay_status
from gym_gui.replay.model.reward_track import RewardTrack
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.playback import DEFAULT_FPS
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.tasks import Tasks
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord
from mosaic.envs.catalog import environment as catalogued
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import Scene

if TYPE_CHECKING:
    from gym_gui.replay.feed.replays import EpisodeReplay


_STEPS_PER_PAGE = 100
_MAX_STEP_PAGES = 60

ReadSteps = Callable[[int, int], list[StepRecord]]


class ReplaySteps(QObject):
    """Recorded steps of one episode, read by page on access. An LRU cache."""

    arrived = Signal()
    """Requested steps are available."""

    def __init__(
        self, read: ReadSteps, tasks: Tasks, notices: Notices, parent: QObject | None = None
    ) -> None:
        """`read(first, count)` blocks."""
        super().__init__(parent)
        self._read = read
        self._tasks = tasks
        self._notices = notices
        self._pages: OrderedDict[int, dict[int, StepRecord]] = OrderedDict()
        self._complete_pages: set[int] = set()
        """Pages that were read completely."""
        self._is_reading = False

    def get(self, step: int) -> StepRecord | None:
        """The cached step, or None; then it is read and `arrived` fires."""
        number = step // _STEPS_PER_PAGE
        page = self._pages.get(number)
        if page is not None:
            self._pages.move_to_end(number)
        record = page.get(step) if page is not None else None
        if record is None and number not in self._complete_pages and not self._is_reading:
            # One request at a time: while scrubbing, only the newest position matters.
            self._is_reading = True
            self._tasks.run(
                self,
                lambda: self._read(number * _STEPS_PER_PAGE, _STEPS_PER_PAGE),
                lambda steps: self._apply_page(number, steps),
                self._fail,
            )
        return record

    def put(self, steps: Iterable[StepRecord]) -> None:
        """Add steps that were read elsewhere."""
        for step in steps:
            self._pages.setdefault(step.step // _STEPS_PER_PAGE, {})[step.step] = step
        while len(self._pages) > _MAX_STEP_PAGES:
            self._complete_pages.discard(self._pages.popitem(last=False)[0])

    def _apply_page(self, page: int, steps: list[StepRecord]) -> None:
        self._is_reading = False
        self._pages.setdefault(page, {})
        self._complete_pages.add(page)
        self.put(steps)
        self.arrived.emit()

    def _fail(self, error: UserError) -> None:
        self._is_reading = False
        self._notices.post_error(error)


_MAX_CACHED_STEPS = 5_000
"""All steps of episodes up to this length stay in memory."""


class ReplayedEpisode(QObject):
    """Own threads read rewards and render frames until `close`."""

    steps_arrived = Signal()
    """Requested steps are available."""

    def __init__(
        self,
        opening: EpisodeOpening,
        replays: Replays,
        services: Services,
        cache_bytes: int,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.opening = opening
        self.track = RewardTrack()
        self.state = ReplayState()
        self._services = services
        self._has_update = Event()
        self._reader = replays.chunks(self.run_id, opening)
        self._replay: EpisodeReplay | None = None
        if not opening.details.not_replayable:
            self._replay = replays.open(self.run_id, self.number, cache_bytes, self._on_update)
        self._steps = ReplaySteps(
            lambda first, count: replays.steps(self.run_id, self.number, first, count),
            services.tasks,
            services.notices,
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
        """Number of steps known so far."""
        return max(self.opening.steps, self.state.steps, len(self.track))

    @property
    def fps(self) -> float:
        """Frame rate of the recorded session."""
        recorded = self.environment.render_fps if self.environment else None
        catalogue = catalogued(self.opening.run.run.env_id).render_fps
        return self.state.fps or recorded or catalogue or DEFAULT_FPS

    @property
    def status(self) -> ReplayStatus:
        packages = self.environment.packages if self.environment else None
        return replay_status(self.opening.details, self.state, packages)

    def frame_problem(self, frame: ReplayFrame | None) -> str:
        """Why there is no frame; empty while one is expected. `frame` is the received frame."""
        if self.opening.details.not_replayable:
            return self.opening.details.not_replayable
        if frame is not None:
            return "" if frame.has_pixels else frame.problem
        return self.state.error.message if self.state.error else ""

    def scene(self, seen: StepRecord | EpisodeStart) -> Scene | None:
        """The scene from recorded data only; None where that is not enough."""
        made, step = self.environment, seen if isinstance(seen, StepRecord) else None
        kwargs: Mapping[str, Any] | None = made.env_kwargs if made else None
        return scene_for(
            made.env_id if made else self.opening.run.run.env_id,
            kwargs,
            seen.obs,
            seen.render,
            action=step.action if step else None,
            is_finished=step is not None and (step.terminated or step.truncated),
        )

    def seek(self, index: int) -> None:
        """Render frames around `index` first."""
        if self._replay is not None:
            self._replay.seek(index)

    def frame(self, index: int) -> ReplayFrame | None:
        """The cached frame, or None."""
        return self._replay.frame(index) if self._replay is not None else None

    def is_available(self, index: int) -> bool:
        """Whether playback may move to the index."""
        if self._replay is None or self.state.error is not None:
            return True
        return any(index in cached for cached in self.state.cached)

    def step(self, number: int) -> StepRecord | None:
        """The cached step, or None; then it is read."""
        return self._steps.get(number)

    def retry(self) -> None:
        """Retry after a simulation error."""
        if self._replay is not None:
            self._replay.retry()
            self._on_update()

    def drain_updates(self) -> bool:
        """Apply updates since the last tick. Return whether there were any."""
        has_read = self._read_chunks()
        if self._replay is None or not self._has_update.is_set():
            return has_read
        self._has_update.clear()
        self.state = self._replay.state
        return True

    @property
    def is_read(self) -> bool:
        """Whether all rewards were read."""
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

    def _read_chunks(self) -> bool:
        chunks = self._reader.drain()
        for chunk in chunks:
            self.track.extend(chunk)
            if self.step_count <= _MAX_CACHED_STEPS:
                self._steps.put(chunk.steps)
        if self._reader.error is not None:
            self._services.notices.post_error(self._reader.error)
            self._reader.error = None
        return bool(chunks)

    def _on_update(self) -> None:
        """Called on the thread of the replay."""
        self._has_update.set()
        self._services.ticker.wake()
