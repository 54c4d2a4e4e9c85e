"""SessionService: the current play session, for the UI thread.

No method blocks: results appear in `state`, and frames and steps are delivered on ticks. Created
once, by the wiring; `SessionPanelModel` starts sessions, `PlayModel` shows them.
"""

import dataclasses
import secrets
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.results import Frame
from mosaic.client.sessions.session_requests import (
    HUMAN,
    ActorDescriptor,
    SessionRequest,
    is_session_worker_actor,
)
from mosaic.client.sessions.session_state import (
    CurrentEpisode,
    EpisodeLine,
    SessionPhase,
    SessionProblem,
    SessionState,
)
from mosaic.envs import catalog

if TYPE_CHECKING:
    from mosaic.client import TrainerClient
    from mosaic.client.sessions.session_controller import SessionController

__all__ = [
    "HUMAN",
    "ActorDescriptor",
    "CurrentEpisode",
    "EpisodeLine",
    "Frame",
    "SessionPhase",
    "SessionProblem",
    "SessionRequest",
    "SessionService",
    "SessionState",
    "fetch_actors",
]

_MAX_SEED = 2**31
_MAX_LINES = 2000
"""Lines handled per tick; more would delay the UI thread."""
_PAUSE_PER_READ = 4
"""The pause after reading a frame, as a multiple of the duration of the read."""


class SessionService(QObject):
    """One session at a time. A request without a connection waits for the daemon."""

    changed = Signal()
    """`state` changed; at most once per tick."""
    frame_changed = Signal()
    """`newest_frame` changed; at most once per tick."""
    lines_arrived = Signal(object)
    """A list of `EpisodeLine` of the session's run, in order; at most once per tick."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = SessionState()
        self.newest_frame: Frame | None = None
        self._link = link
        self._ticker = ticker
        self._controller: SessionController | None = None
        self._newest_state = self.state
        self._is_own = False
        self._is_closed = False
        self._pending_request: Callable[[SessionController], None] | None = None
        self._next_read_at = 0.0
        link.connected.connect(self._on_connected)
        link.changed.connect(self._on_link_changed)
        if link.has_client:
            self._on_connected()
        ticker.subscribe(self, self._on_tick)

    @property
    def is_waiting_for_daemon(self) -> bool:
        """A session was requested and starts when the daemon is connected."""
        return self._pending_request is not None

    @property
    def is_without_daemon(self) -> bool:
        """A session was requested, but no daemon could be found or started."""
        return self.is_waiting_for_daemon and self._link.state is LinkState.FAILED

    @property
    def is_own(self) -> bool:
        """The session was started here, so it ends when this closes."""
        return self._is_own

    # Requests.

    def start(self, request: SessionRequest) -> None:
        """Start a session. A running session ends when the new one has started."""
        self._is_own = True
        paced = _with_pace(request)
        self._start(lambda controller: controller.start(paced))

    def attach(self, run_id: str) -> None:
        """Attach to an active run: a play session is controlled, other runs are observed."""
        self._is_own = False
        self._start(lambda controller: controller.attach(run_id))

    def switch_actor(self, actor_id: str) -> None:
        self._send(lambda controller: controller.switch_actor(actor_id))

    def act(self, value: Any) -> None:
        self._send(lambda controller: controller.act(value))

    def takeover(self) -> None:
        self._send(lambda controller: controller.takeover())

    def release(self) -> None:
        self._send(lambda controller: controller.release())

    def pause(self) -> None:
        self._send(lambda controller: controller.pause())

    def resume(self) -> None:
        self._send(lambda controller: controller.resume())

    def step(self, count: int = 1) -> None:
        self._send(lambda controller: controller.step(count))

    def reset(self, seed: int | None = None) -> None:
        """Start an episode. Without a seed a random one is chosen here, so that it is known."""
        reset_seed = secrets.randbelow(_MAX_SEED) if seed is None else seed
        self._send(lambda controller: controller.reset(reset_seed))

    def speed(self, value: float) -> None:
        """Set the speed relative to real time; 0: as fast as possible."""
        self._send(lambda controller: controller.speed(value))

    def configure(
        self, *, auto_reset: bool | None = None, env_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self._send(
            lambda controller: controller.configure(auto_reset=auto_reset, env_kwargs=env_kwargs)
        )

    def stop(self) -> None:
        """Stop the run."""
        if self._pending_request is not None:
            self._pending_request = None
            self.changed.emit()
        self._send(lambda controller: controller.stop())

    # Closing.

    def close(self) -> None:
        """Stop a session that was started here; an attached run continues.

        Does not block. The trainer link must stay open until `join` returns.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._pending_request = None
        if self._controller is not None:
            if self._is_own:
                # Even if the known session is finished: another one may have been requested.
                self._controller.stop()
            self._controller.close()

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether all threads have ended."""
        return self._controller is None or self._controller.join(timeout_s)

    # Events.

    def _on_connected(self) -> None:
        if self._is_closed or self._controller is not None:
            return
        from mosaic.client.sessions import session_controller  # noqa: PLC0415 - brings gRPC

        self._controller = session_controller.SessionController(
            self._link.client,
            home=self._link.home,
            on_change=self._on_state,
            max_lines=_MAX_LINES,
        )
        request, self._pending_request = self._pending_request, None
        if request is not None:
            request(self._controller)
            self.changed.emit()

    def _on_link_changed(self) -> None:
        if self.is_waiting_for_daemon:
            self.changed.emit()

    def _on_state(self, state: SessionState) -> None:
        """On the session's thread."""
        self._newest_state = state
        self._ticker.wake()

    def _on_tick(self) -> bool:
        if self._is_closed:
            return False
        has_changed = self._apply_state()
        has_changed = self._drain_lines() or has_changed
        return self._read_frame() or has_changed

    def _apply_state(self) -> bool:
        newest = self._newest_state
        if newest is self.state:
            return False
        if newest.run_id != self.state.run_id:
            self.newest_frame = None
        self.state = newest
        self.changed.emit()
        return True

    def _drain_lines(self) -> bool:
        if self._controller is None or not self.state.run_id:
            return False
        lines = self._controller.drain_lines(self.state.run_id)
        if lines:
            self.lines_arrived.emit(lines)
        return bool(lines)

    def _read_frame(self) -> bool:
        started = time.monotonic()
        if self._controller is None or not self.state.run_id or started < self._next_read_at:
            return False
        current = self.newest_frame
        frame = self._controller.newest_frame(current.number if current else 0)
        if frame is None:
            return False
        duration_s = time.monotonic() - started
        self._next_read_at = started + duration_s * _PAUSE_PER_READ
        self.newest_frame = frame
        self.frame_changed.emit()
        return True

    def _start(self, request: "Callable[[SessionController], None]") -> None:
        if self._controller is None and not self._is_closed:
            self._pending_request = request
            self.changed.emit()
        else:
            self._send(request)

    def _send(self, request: "Callable[[SessionController], None]") -> None:
        if self._controller is not None and not self._is_closed:
            request(self._controller)
            self._ticker.wake()


def fetch_actors(client: "TrainerClient", env_id: str) -> tuple[ActorDescriptor, ...]:
    """All actors, with their availability for the environment. Blocking."""
    from mosaic.client.sessions.actor_service import ActorService  # noqa: PLC0415 - imports gRPC

    return ActorService(client).actors(env_id)


def _with_pace(request: SessionRequest) -> SessionRequest:
    """Add the pace of the catalog for parameters that the request does not set."""
    if not is_session_worker_actor(request.actor):
        return request  # other workers may not have these parameters
    entry = catalog.environment(request.env_id)
    # A human resets manually, so that the end of the episode stays visible.
    pace: dict[str, Any] = {"auto_reset": False} if request.actor == HUMAN else {}
    if not entry.is_generated:
        pace["turn_based"] = entry.turn_based
        if request.actor == HUMAN and not entry.turn_based:
            pace["start_paused"] = True  # until the user is ready
    return dataclasses.replace(request, params={**pace, **request.params})
