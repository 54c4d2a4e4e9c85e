"""SessionController: play, control and watch runs, for the window, command line and notebooks.

Commands return immediately. Their results and errors appear in `state` and are never raised;
`on_change` is called on the controller's own thread with each new state.

On that thread, commands run in order, and updates of the followed runs run in between. After each
iteration the session publishes its state if it has changed.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from mosaic.client.errors import WaitTimeoutError
from mosaic.client.results import Frame
from mosaic.client.sessions.session_engine import SessionEngine
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import EpisodeLine, SessionState
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord
from mosaic.contract.layout import Home

_log = logging.getLogger(__name__)

MAX_QUEUED_ACTIONS = 256
"""Older key presses are no longer what the player intends."""
_JOIN_TIMEOUT_S = 10.0
_LINE_ORDER: dict[type, int] = {EpisodeStart: 0, StepRecord: 1, EpisodeEnd: 2}


class SessionController:
    """One session at a time, played or watched. Thread-safe.

        with SessionController(client) as session:
            session.start(SessionRequest(env_id="CartPole-v1", actor="random"))
            session.wait(lambda state: state.episodes_finished >= 3, timeout_s=60)
            session.takeover()
            session.act(1)

    The controller renews the lease of the run until it is closed; then the run continues until its
    lease expires. `stop` ends the run.
    """

    def __init__(
        self,
        client: TrainerClient,
        *,
        home: Home | None = None,
        on_change: Callable[[SessionState], None] | None = None,
        max_lines: int = 0,
    ) -> None:
        """`home` is where frames are read from if the daemon is on this machine.

        It defaults to the home of a client made with `TrainerClient.connect`. With `max_lines` the
        controller keeps that many lines for `drain_lines`, which then has to be called regularly.
        """
        self._on_change = on_change
        self._changed = threading.Condition()
        self._state = SessionState()
        self._engine = SessionEngine(
            client, home or client.home, self._publish, self._post, max_lines
        )
        self._thread = SessionThread(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.join(_JOIN_TIMEOUT_S)

    @property
    def state(self) -> SessionState:
        """An immutable snapshot."""
        return self._state

    def start(self, request: SessionRequest) -> None:
        """Start a session. A running session ends once the new one has started."""
        self._thread.submit(lambda: self._engine.start(request))

    def attach(self, run_id: str) -> None:
        """Attach to an active run: `play` and `evaluate` runs can be controlled, others watched."""
        self._thread.submit(lambda: self._engine.attach(run_id))

    def switch_actor(self, actor_id: str) -> None:
        """Switch to another actor; the previous one acts until then, and if the switch fails.

        Switching to the current actor cancels a pending switch.
        """
        self._thread.submit(lambda: self._engine.switch_actor(actor_id))

    def act(self, value: Any) -> None:
        """Send a human action. Actions keep their order; if too many are queued, they are dropped
        and counted in the state.
        """
        if not self._thread.submit(lambda: self._engine.act(value), is_action=True):
            self._thread.post_update(self._engine.count_dropped_action)

    def takeover(self) -> None:
        """Let a human act, also in the middle of an episode."""
        self._send({"cmd": "takeover"})

    def release(self) -> None:
        """Return control to the actor."""
        self._send({"cmd": "release"})

    def pause(self) -> None:
        self._thread.submit(self._engine.pause)

    def resume(self) -> None:
        self._thread.submit(self._engine.resume)

    def step(self, count: int = 1) -> None:
        """Run single steps while paused."""
        self._send({"cmd": "step", "count": count})

    def reset(self, seed: int | None = None) -> None:
        """Start a new episode."""
        self._send({"cmd": "reset"} | ({} if seed is None else {"seed": seed}))

    def speed(self, value: float) -> None:
        """Set the speed as a multiple of real time; 0: unlimited."""
        self._send({"cmd": "speed", "value": value})

    def configure(
        self, *, auto_reset: bool | None = None, env_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        """Change settings of the session; `env_kwargs` take effect at the next reset."""
        command: dict[str, Any] = {"cmd": "configure"}
        if auto_reset is not None:
            command["auto_reset"] = auto_reset
        if env_kwargs is not None:
            command["env_kwargs"] = dict(env_kwargs)
        self._send(command)

    def stop(self) -> None:
        """Stop the run."""
        self._thread.submit(self._engine.stop)

    def newest_frame(self, after: int = 0) -> Frame | None:
        """Return the newest complete frame; None if it is still number `after`."""
        frames = self._engine.frames
        return frames.newest(after) if frames else None

    def drain_lines(self, run_id: str) -> list[EpisodeLine]:
        """Return the lines of episodes that arrived since the last call, if it can be controlled.

        Empty if `run_id` is not the run of the session. Steps and other lines arrive by two
        streams; starts come first and ends last.
        """
        lines = self._engine.lines(run_id)
        taken = lines.take() if lines else []
        return sorted(taken, key=lambda line: _LINE_ORDER[type(line)])

    def wait(self, condition: Callable[[SessionState], bool], timeout_s: float) -> SessionState:
        """Block until all commands so far have completed and `condition` holds.

        Raises `WaitTimeoutError` after `timeout_s`, or if the controller is closed.
        """
        submitted = self._thread.submitted
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while self._thread.completed < submitted or not condition(self._state):
                if self._thread.is_finished:
                    raise WaitTimeoutError(
                        f"The session was closed while it was {self._state.phase}.",
                        remedy="Attach to the run again to follow it.",
                    )
                if not self._changed.wait(deadline - time.monotonic()):
                    raise WaitTimeoutError(
                        f"The session is still {self._state.phase} after {timeout_s:g} s.",
                        remedy=str(self._state.error or "Wait longer, or see the run's log."),
                    )
            return self._state

    def close(self) -> None:
        """Stop following the run; commands submitted before, such as `stop`, are still sent."""
        self._thread.close()

    def join(self, timeout_s: float) -> bool:
        """Block until the threads of a closed controller have ended; return False on timeout."""
        deadline = time.monotonic() + timeout_s
        threads = [self._thread.thread]
        self._thread.thread.join(timeout_s)
        threads += self._engine.threads
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _send(self, command: Mapping[str, Any]) -> None:
        self._thread.submit(lambda: self._engine.control(command))

    def _post(self, update: Callable[[], None]) -> None:
        self._thread.post_update(update)

    def _publish(self, state: SessionState) -> None:
        with self._changed:
            has_changed = state != self._state
            self._state = state
            self._changed.notify_all()
        if has_changed and self._on_change is not None:
            self._on_change(state)


class SessionLoop(Protocol):
    """What the thread calls, on the thread only."""

    def attempt(self, command: Callable[[], None], *, is_action: bool) -> None:
        """Run a command; a `UserError` becomes part of the state."""
        ...

    def run_due_tasks(self, now: float) -> float:
        """Run what is due; return the value of `time.monotonic()` at which more is due."""
        ...

    def publish_state(self) -> None:
        """Publish the state if it has changed."""
        ...

    def close(self) -> None:
        """Release everything; only `publish_state` is called once more."""
        ...


class SessionThread:
    """The thread on which a session talks to the daemon. Thread-safe.

    Created by `SessionController`, started on construction. Callers queue commands and return
    immediately.
    """

    def __init__(self, loop: SessionLoop) -> None:
        self._loop = loop
        self._changed = threading.Condition()
        self._commands: deque[tuple[Callable[[], None], bool]] = deque()
        self._updates: deque[Callable[[], None]] = deque()
        self._queued_actions = 0
        self._submitted = 0
        self._completed = 0
        self._is_closing = False
        self.is_finished = False
        """Closed: no command runs and no state is published."""
        self.thread = threading.Thread(target=self._run, name="session", daemon=True)
        self.thread.start()

    @property
    def submitted(self) -> int:
        """Number of commands that were submitted."""
        return self._submitted

    @property
    def completed(self) -> int:
        """Number of commands that were completed."""
        return self._completed

    def submit(self, command: Callable[[], None], *, is_action: bool = False) -> bool:
        """Queue `command` after all commands submitted so far.

        Return False if it was dropped: the thread is closing, or too many actions are queued.
        """
        with self._changed:
            if self._is_closing or (is_action and self._queued_actions >= MAX_QUEUED_ACTIONS):
                return False
            self._commands.append((command, is_action))
            self._queued_actions += is_action
            self._submitted += 1
            self._changed.notify_all()
            return True

    def post_update(self, update: Callable[[], None]) -> None:
        """Run `update` before all queued commands."""
        with self._changed:
            self._updates.append(update)
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread after all queued commands; queued actions are dropped."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            with self._changed:
                if not self._is_closing:
                    self._changed.wait_for(self._has_work, max(0.0, due - time.monotonic()))
                updates = list(self._updates)
                self._updates.clear()
                if self._is_closing:
                    self._drop_actions()
                    if not self._commands:
                        break
                command, is_action = self._commands.popleft() if self._commands else (None, False)
                self._queued_actions -= is_action
            for update in updates:
                self._run_guarded(update)
            if command is not None:
                try:
                    self._loop.attempt(command, is_action=is_action)
                except Exception:  # noqa: BLE001 - thread boundary
                    _report_bug()
                self._completed += 1
            due = self._run_due_tasks()
            self._run_guarded(self._loop.publish_state)
        self._run_guarded(self._loop.close)
        self.is_finished = True
        self._run_guarded(self._loop.publish_state)

    def _has_work(self) -> bool:
        return bool(self._commands or self._updates or self._is_closing)

    def _drop_actions(self) -> None:
        kept = [queued for queued in self._commands if not queued[1]]
        self._completed += len(self._commands) - len(kept)
        self._commands = deque(kept)
        self._queued_actions = 0

    def _run_due_tasks(self) -> float:
        due = [time.monotonic() + 1.0]
        self._run_guarded(lambda: due.append(self._loop.run_due_tasks(time.monotonic())))
        return due[-1]

    def _run_guarded(self, call: Callable[[], None]) -> None:
        """Log an unexpected exception of `call`, so that it does not end the session."""
        try:
            call()
        except Exception:  # noqa: BLE001 - thread boundary
            _report_bug()


def _report_bug() -> None:
    _log.exception("C212 a session command failed unexpectedly")
