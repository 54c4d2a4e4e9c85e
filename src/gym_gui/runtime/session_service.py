"""SessionService: the session that is played or watched, for the UI thread.

Every method returns at once. What comes of it is seen in `state`; pictures and steps come with the
ticker. Made once, by the wiring; `SessionPanelModel` starts sessions, `PlayModel` shows them.
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
from mosaic.client.sessions.actor_descriptors import HUMAN, ActorDescriptor, is_session_worker_actor
from mosaic.client.sessions.episode_tracker import CurrentEpisode, EpisodeLine
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import SessionPhase, SessionProblem, SessionState
from mosaic.envs import catalog

if TYPE_CHECKING:
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
]

_MAX_SEED = 2**31
_MAX_LINES = 2000
"""Lines handled in one tick: more would be noticeable."""
_PAUSE_PER_READ = 4
"""A picture that takes long to read is read so much the seldomer: the window goes first."""


class SessionService(QObject):
    """One session at a time. A request made before a daemon answers waits for it."""

    changed = Signal()
    """`state` is new; at most once per tick."""
    frame_changed = Signal()
    """`newest_frame` is new; at most once per tick."""
    lines_arrived = Signal(object)
    """A list of `EpisodeLine` of the run that is played, in order; at most once per tick."""

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
        """A session was requested, and begins as soon as a daemon answers."""
        return self._pending_request is not None

    @property
    def is_without_daemon(self) -> bool:
        """A session was requested, and no daemon could be found or started for it."""
        return self.is_waiting_for_daemon and self._link.state is LinkState.FAILED

    @property
    def is_own(self) -> bool:
        """It was started here, so it ends when this closes."""
        return self._is_own

    # What people ask for.

    def start(self, request: SessionRequest) -> None:
        """Play. A session that is going on ends once the new one has begun."""
        self._is_own = True
        paced = _paced(request)
        self._start(lambda controller: controller.start(paced))

    def attach(self, run_id: str) -> None:
        """Turn to a run that is under way: one that is played is controlled, others are watched."""
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
        """Begin an episode. Without a seed one is drawn here, so that it can be had again."""
        sure = secrets.randbelow(_MAX_SEED) if seed is None else seed
        self._send(lambda controller: controller.reset(sure))

    def speed(self, value: float) -> None:
        """Times real time; 0: as fast as it can."""
        self._send(lambda controller: controller.speed(value))

    def configure(
        self, *, auto_reset: bool | None = None, env_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self._send(
            lambda controller: controller.configure(auto_reset=auto_reset, env_kwargs=env_kwargs)
        )

    def stop(self) -> None:
        """End the run."""
        if self._pending_request is not None:
            self._pending_request = None
            self.changed.emit()
        self._send(lambda controller: controller.stop())

    # Its end.

    def close(self) -> None:
        """A session that was started here ends with it; one that was attached to goes on.

        Does not wait. The trainer link must stay open until `join` says that it is done.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._pending_request = None
        if self._controller is not None:
            if self._is_own:
                # Also when one is over as far as is known: the next may have been requested since.
                self._controller.stop()
            self._controller.close()

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether all threads have ended."""
        return self._controller is None or self._controller.join(timeout_s)

    # What happens.

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
        began = time.monotonic()
        if self._controller is None or not self.state.run_id or began < self._next_read_at:
            return False
        shown = self.newest_frame
        frame = self._controller.newest_frame(shown.number if shown else 0)
        if frame is None:
            return False
        took = time.monotonic() - began
        self._next_read_at = began + took * _PAUSE_PER_READ
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


def _paced(request: SessionRequest) -> SessionRequest:
    """As the catalog says that a person plays it, where the request does not say how."""
    if not is_session_worker_actor(request.actor):
        return request  # other workers may not know these parameters
    entry = catalog.environment(request.env_id)
    # A person's episode stays to be looked at; it is they who begin the next one.
    pace: dict[str, Any] = {"auto_reset": False} if request.actor == HUMAN else {}
    if not entry.is_generated:
        pace["turn_based"] = entry.turn_based
        if request.actor == HUMAN and not entry.turn_based:
            pace["start_paused"] = True  # until their hands are on the keys
    return dataclasses.replace(request, params={**pace, **request.params})
