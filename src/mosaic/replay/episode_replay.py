"""EpisodeReplay: random access to the frames of a recorded episode, with cache and read-ahead.

A window moves the playhead and draws the frames that arrive. The daemon renders them by
re-simulating the episode in the bundle of its run.
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
from mosaic.replay.frame_cache import (
    DEFAULT_LIMIT_BYTES,
    FrameCache,
    FrameRange,
    Playhead,
    next_frames_to_request,
)
from mosaic.replay.replay_state import ReplayFrame, ReplayState, to_replay_problem, unpack_frame
from mosaic.replay.simulation import SimulationSource, SimulationStream

_log = logging.getLogger(__name__)
_MAX_WAIT_FRAMES = 8
"""A frame that is at most this far ahead of the simulation is waited for, not requested again."""
_URGENT_FRAMES = 32
"""Frames from the playhead on that should be in memory; missing ones are urgent."""


class EpisodeReplay:
    """Frames of one episode. Thread-safe; only `wait_frame` and `join` block.

    A failure is reported in `state.error`; cached frames stay available, and `retry` starts again.
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
        """`on_change` is called after every change of `state`, on the replay's own thread."""
        self._client = client
        self._run_id = run_id
        self._episode = episode
        self._on_change = on_change or (lambda: None)
        self._cache = FrameCache(memory_bytes)
        self._changed = threading.Condition()
        self._base_state = ReplayState()
        self._playhead = Playhead(0)
        self._simulation: SimulationStream | None = None
        self._requested: FrameRange | None = None
        self._request_number = 0
        self._next_index = 0
        """Index of the next frame of the request."""
        self._is_read_ahead_suspended = False
        """The last frames did not fit or did not arrive: without this, the same frames would be
        requested again and again."""
        self._has_reached_end = False
        """This simulation has reached the end and has compared all steps."""
        self._thread = self._start_thread()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> ReplayState:
        with self._changed:
            base_state, playhead = self._base_state, self._playhead
        return msgspec.structs.replace(
            base_state,
            playhead=playhead.index,
            cached=self._cache.ranges,
            cached_bytes=self._cache.used_bytes,
        )

    def seek(self, index: int) -> None:
        """Move the playhead and request missing frames around it."""
        with self._changed:
            if self._base_state.is_open:
                index = min(index, self._base_state.steps)
            index = max(0, index)
            previous = self._playhead.index
            is_backward = self._playhead.is_backward if index == previous else index < previous
            self._playhead = Playhead(index, is_backward)
            self._cache.move_playhead(index)
            self._is_read_ahead_suspended = self._is_read_ahead_suspended and index == previous
            if not self._is_expected_soon(index):
                self._request_next()

    def frame(self, index: int) -> ReplayFrame | None:
        """Return the frame if it is in memory."""
        cached = self._cache.get(index)
        return None if cached is None else unpack_frame(cached)

    def wait_frame(self, index: int, timeout_s: float) -> ReplayFrame | None:
        """Move the playhead and wait for the frame. None: timeout, error, or no such frame."""
        self.seek(index)
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while (cached := self._cache.get(index)) is None:
                state = self._base_state
                is_outside = state.is_open and not 0 <= index <= state.steps
                remaining_s = deadline - time.monotonic()
                if state.error or state.is_closed or is_outside or remaining_s <= 0:
                    return None
                self._changed.wait(remaining_s)
        return unpack_frame(cached)

    def retry(self) -> None:
        """Start again after an error; cached frames are kept."""
        with self._changed:
            if self._base_state.is_closed or self._base_state.error is None:
                return
            self._base_state = msgspec.structs.replace(self._base_state, error=None)
            self._thread = self._start_thread()

    def close(self) -> None:
        """End the simulation and release the frames, without waiting for the thread."""
        with self._changed:
            self._base_state = msgspec.structs.replace(self._base_state, is_closed=True)
            simulation, self._simulation = self._simulation, None
            self._changed.notify_all()
        self._cache.clear()
        if simulation is not None:
            simulation.close()

    def join(self, timeout_s: float | None = None) -> bool:
        """Return whether the thread has ended within the timeout, after `close`."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _start_thread(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="episode replay", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            self._receive_messages()
        except Exception as error:  # noqa: BLE001 - thread boundary: reported in `state.error`
            if self._is_closed():
                return
            if not isinstance(error, UserError):
                _log.exception(
                    "C171 replay of episode %s of %s failed unexpectedly",
                    self._episode,
                    self._run_id,
                )
            with self._changed:
                self._base_state = msgspec.structs.replace(
                    self._base_state, error=to_replay_problem(error)
                )
            self._notify()

    def _receive_messages(self) -> None:
        simulation = self._client.resimulate(self._run_id, self._episode)
        try:
            with self._changed:
                if self._is_closed():
                    return
                self._simulation = simulation
            self._handle_opened(simulation.opened)
            for message in simulation:
                self._handle_message(message)
                if self._is_closed():
                    return
        finally:
            simulation.close()
            with self._changed:
                self._simulation, self._requested = None, None
        if not self._is_closed():
            raise UserError(
                "The simulation of the episode ended unexpectedly.",
                remedy="Try again; see the daemon's log under logs/ of the home.",
                code="C172",
            )

    def _handle_opened(self, opened: SimulationOpened) -> None:
        with self._changed:
            self._base_state = msgspec.structs.replace(
                self._base_state,
                is_open=True,
                steps=opened.steps,
                fps=opened.fps,
                warnings=opened.warnings,
            )
            self._playhead = Playhead(
                min(self._playhead.index, opened.steps), self._playhead.is_backward
            )
            self._cache.move_playhead(self._playhead.index)
            self._is_read_ahead_suspended = self._has_reached_end = False
            self._request_next()
        self._notify()

    def _handle_message(self, message: SimulationMessage) -> None:
        with self._changed:
            if isinstance(message, SimulatedFrame):
                is_cached = self._cache.put(message)
                if message.request == self._request_number:
                    self._next_index = message.index + 1
                    self._is_read_ahead_suspended |= not is_cached
            elif isinstance(message, SimulationChecked):
                if self._base_state.is_checked and not message.is_over:
                    return  # a restarted simulation does not reset the result
                self._base_state = msgspec.structs.replace(
                    self._base_state,
                    checked_steps=message.steps,
                    is_checked=message.is_over,
                    first_difference=message.first_difference,
                    difference=message.difference,
                )
            elif message.request == self._request_number and self._requested is not None:
                self._is_read_ahead_suspended |= self._next_index != self._requested.end
                self._has_reached_end |= self._requested.end == self._base_state.frames
                self._requested = None
                self._request_next()
        self._notify()

    def _request_next(self) -> None:
        """Request the most urgent frames. The lock is held."""
        if (
            self._simulation is None
            or not self._base_state.is_open
            or self._is_read_ahead_suspended
        ):
            return
        frames = (
            next_frames_to_request(self._cache, self._playhead, self._base_state.frames)
            or self._frames_to_verify()
        )
        if frames is not None and frames != self._requested:
            self._requested, self._next_index = frames, frames.first
            self._request_number = self._simulation.request_frames(frames.first, frames.count)

    def _frames_to_verify(self) -> FrameRange | None:
        """Return the last frame if it is needed to compare the complete episode.

        After a `retry` with all frames in memory, no other request would run the simulation.
        """
        state = self._base_state
        is_needed = not (state.is_checked or self._has_reached_end)
        if is_needed and self._cache.first_missing(0, state.frames) is None:
            return FrameRange(state.steps, 1)
        return None

    def _is_expected_soon(self, index: int) -> bool:
        """Return whether the current request covers a playhead at `index`. The lock is held."""
        requested = self._requested
        if requested is None:
            return False
        missing = self._cache.first_missing(
            index, min(self._base_state.frames, index + _URGENT_FRAMES)
        )
        if missing is None:
            return True
        lead_frames = missing - index
        return (
            self._next_index
            <= missing
            < min(requested.end, self._next_index + _MAX_WAIT_FRAMES + lead_frames)
        )

    def _is_closed(self) -> bool:
        return self._base_state.is_closed

    def _notify(self) -> None:
        """Wake waiting threads and call `on_change` unless closed. The lock is not held."""
        with self._changed:
            self._changed.notify_all()
            is_closed = self._base_state.is_closed
        if is_closed:
            self._cache.clear()
        else:
            self._on_change()
