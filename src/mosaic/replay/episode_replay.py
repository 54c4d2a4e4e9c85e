"""EpisodeReplay: any frame of a recorded episode, at once when it is in memory and soon otherwise.

A window gives it a playhead and draws what comes; how fast the playhead moves is the window's own
affair. The frames come from the daemon, which plays the episode again in the bundle of its run.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Self

import msgspec

from mosaic.client.resimulation import (
    SimulatedFrame,
    SimulationChecked,
    SimulationMessage,
    SimulationOpened,
)
from mosaic.contract.errors import UserError
from mosaic.replay.frame_cache import DEFAULT_LIMIT_BYTES, FrameCache
from mosaic.replay.read_ahead import Playhead, Stretch, next_stretch
from mosaic.replay.replay_frame import ReplayFrame, unpack
from mosaic.replay.replay_state import ReplayState, problem_of
from mosaic.replay.simulation import Simulation, SimulationSource

_log = logging.getLogger(__name__)
_SOON = 8
"""A frame that is so near to the one that is just made is worth waiting for."""
_LOOKOUT = 32
"""So many frames from the playhead on should be there; what is missing of them is urgent."""


class EpisodeReplay:
    """One episode. Only `wait_frame` and `join` wait; any thread may call them.

    What fails is `state.error`; the frames that are there already stay, and `retry` begins again.
    """

    def __init__(
        self,
        client: SimulationSource,
        run_id: str,
        episode: int,
        *,
        memory_bytes: int = DEFAULT_LIMIT_BYTES,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        """`on_change` is called whenever `state` is new, often, on the replay's own thread."""
        self._client = client
        self._run_id = run_id
        self._episode = episode
        self._on_change = on_change or (lambda: None)
        self._cache = FrameCache(memory_bytes)
        self._changed = threading.Condition()
        self._known = ReplayState()
        self._playhead = Playhead(0)
        self._simulation: Simulation | None = None
        self._asked: Stretch | None = None
        self._request = 0
        """The number of what was asked for."""
        self._next_index = 0
        """Of what was asked for, the frame that comes next."""
        self._is_resting = False
        """There was no room for what came, or it did not come: nothing more is read ahead from
        here, or it would be asked for again and again."""
        self._has_gone_through = False
        """This simulation has been at the end, so that it has compared what it can."""
        self._thread = self._started()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> ReplayState:
        with self._changed:
            known, playhead = self._known, self._playhead
        return msgspec.structs.replace(
            known,
            playhead=playhead.index,
            cached=self._cache.ranges,
            cached_bytes=self._cache.used_bytes,
        )

    def seek(self, index: int) -> None:
        """Move the playhead. What is missing around it is asked for."""
        with self._changed:
            if self._known.is_open:
                index = min(index, self._known.steps)
            index = max(0, index)
            before = self._playhead.index
            is_going_back = self._playhead.is_going_back if index == before else index < before
            self._playhead = Playhead(index, is_going_back)
            self._cache.move_playhead(index)
            self._is_resting = self._is_resting and index == before
            if not self._is_on_its_way(index):
                self._ask()

    def frame(self, index: int) -> ReplayFrame | None:
        """The frame, if it is in memory."""
        found = self._cache.get(index)
        return None if found is None else unpack(found)

    def wait_frame(self, index: int, timeout_s: float) -> ReplayFrame | None:
        """Moves the playhead there and waits. None: it did not come in time, or never will."""
        self.seek(index)
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while (found := self._cache.get(index)) is None:
                known = self._known
                is_beyond = known.is_open and not 0 <= index <= known.steps
                left_s = deadline - time.monotonic()
                if known.error or known.is_closed or is_beyond or left_s <= 0:
                    return None
                self._changed.wait(left_s)
        return unpack(found)

    def retry(self) -> None:
        """After an error: begin again, with the frames that are there."""
        with self._changed:
            if self._known.is_closed or self._known.error is None:
                return
            self._known = msgspec.structs.replace(self._known, error=None)
            self._thread = self._started()

    def close(self) -> None:
        """End the simulation and let go of the frames, without waiting for its thread."""
        with self._changed:
            self._known = msgspec.structs.replace(self._known, is_closed=True)
            simulation, self._simulation = self._simulation, None
            self._changed.notify_all()
        self._cache.clear()
        if simulation is not None:
            simulation.close()

    def join(self, timeout_s: float | None = None) -> bool:
        """After `close`: whether its thread has ended within the time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _started(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="episode replay", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            self._take_parts()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: it becomes `state.error`
            if self._has_ended():
                return
            if not isinstance(error, UserError):
                _log.exception("C171 replay of episode %s of %s broke", self._episode, self._run_id)
            with self._changed:
                self._known = msgspec.structs.replace(self._known, error=problem_of(error))
            self._tell()

    def _take_parts(self) -> None:
        simulation = self._client.resimulate(self._run_id, self._episode)
        try:
            with self._changed:
                if self._has_ended():
                    return
                self._simulation = simulation
            self._take_opened(simulation.opened)
            for part in simulation:
                self._take(part)
                if self._has_ended():
                    return
        finally:
            simulation.close()
            with self._changed:
                self._simulation, self._asked = None, None
        if not self._has_ended():
            raise UserError(
                "The simulation of the episode has ended by itself.",
                remedy="Try again; the daemon's log under logs/ of the home says more.",
                code="C172",
            )

    def _take_opened(self, opened: SimulationOpened) -> None:
        with self._changed:
            self._known = msgspec.structs.replace(
                self._known,
                is_open=True,
                steps=opened.steps,
                fps=opened.fps,
                warnings=opened.warnings,
            )
            self._playhead = Playhead(
                min(self._playhead.index, opened.steps), self._playhead.is_going_back
            )
            self._cache.move_playhead(self._playhead.index)
            self._is_resting = self._has_gone_through = False
            self._ask()
        self._tell()

    def _take(self, part: SimulationMessage) -> None:
        with self._changed:
            if isinstance(part, SimulatedFrame):
                is_kept = self._cache.put(part)
                if part.request == self._request:
                    self._next_index = part.index + 1
                    self._is_resting |= not is_kept
            elif isinstance(part, SimulationChecked):
                if self._known.is_checked and not part.is_over:
                    return  # a simulation that began again takes nothing back
                self._known = msgspec.structs.replace(
                    self._known,
                    checked_steps=part.steps,
                    is_checked=part.is_over,
                    first_difference=part.first_difference,
                    difference=part.difference,
                )
            elif part.request == self._request and self._asked is not None:
                self._is_resting |= self._next_index != self._asked.end
                self._has_gone_through |= self._asked.end == self._known.frames
                self._asked = None
                self._ask()
        self._tell()

    def _ask(self) -> None:
        """Ask for what is wanted most. The lock is held."""
        if self._simulation is None or not self._known.is_open or self._is_resting:
            return
        wanted = next_stretch(self._cache, self._playhead, self._known.frames) or self._unproven()
        if wanted is not None and wanted != self._asked:
            self._asked, self._next_index = wanted, wanted.first
            self._request = self._simulation.request_frames(wanted.first, wanted.count)

    def _unproven(self) -> Stretch | None:
        """The last frame, although it is there, where nothing else would make the simulation go
        through the episode and compare it: after a `retry` that needs no frame any more."""
        known = self._known
        is_needed = not (known.is_checked or self._has_gone_through)
        if is_needed and self._cache.first_missing(0, known.frames) is None:
            return Stretch(known.steps, 1)
        return None

    def _is_on_its_way(self, index: int) -> bool:
        """Whether what was asked for already serves a playhead at `index`. The lock is held."""
        asked = self._asked
        if asked is None:
            return False
        missing = self._cache.first_missing(index, min(self._known.frames, index + _LOOKOUT))
        if missing is None:
            return True
        lead = missing - index
        return self._next_index <= missing < min(asked.end, self._next_index + _SOON + lead)

    def _has_ended(self) -> bool:
        return self._known.is_closed

    def _tell(self) -> None:
        """Wake who waits, and call back unless it is all over. The lock is not held."""
        with self._changed:
            self._changed.notify_all()
            is_closed = self._known.is_closed
        if is_closed:
            self._cache.clear()
        else:
            self._on_change()
