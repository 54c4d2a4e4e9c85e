"""SessionController: playing and watching runs, for the window, the command line and notebooks.

Every method returns at once. What goes wrong is told by the state, never raised; what comes of a
command is seen in the state too, which `on_change` announces from the controller's own thread.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from mosaic.client.errors import WaitTimeoutError
from mosaic.client.results import Frame
from mosaic.client.sessions.session import Session
from mosaic.client.sessions.session_link import SessionLink
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import SessionState
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.layout import Home

_LET_GO_S = 10.0


class SessionController:
    """One session at a time: what is played or watched. Any thread may use it.

        with SessionController(client) as session:
            session.start(SessionRequest(env_id="CartPole-v1", actor="random"))
            session.wait(lambda state: state.episodes_finished >= 3, timeout_s=60)
            session.takeover()
            session.act(1)

    The run is held for as long as the controller lives. Closing it leaves the run to its lease;
    `stop` ends the run.
    """

    def __init__(
        self,
        client: TrainerClient,
        *,
        home: Home | None = None,
        on_change: Callable[[SessionState], None] | None = None,
    ) -> None:
        """`home` is where pictures are read from when the daemon is on this machine; it is known
        by itself for a client that was connected by its home."""
        self._on_change = on_change
        self._changed = threading.Condition()
        self._state = SessionState()
        self._session = Session(client, home or client.home, self._publish, self._tell)
        self._link = SessionLink(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.join(_LET_GO_S)

    @property
    def state(self) -> SessionState:
        """A snapshot that never changes."""
        return self._state

    def start(self, request: SessionRequest) -> None:
        """Play. Where a session is going on already, that one ends once the new one has begun."""
        self._ask(lambda: self._session.start(request))

    def attach(self, run_id: str) -> None:
        """Turn to a run that is under way: one that is played is controlled, others are watched."""
        self._ask(lambda: self._session.attach(run_id))

    def switch_actor(self, actor_id: str) -> None:
        """Have another one act; the one before acts until then, and on if that fails.

        Asked for the one that acts, it calls off a switch that is under way.
        """
        self._ask(lambda: self._session.switch_actor(actor_id))

    def act(self, value: Any) -> None:
        """A person's action. In order; too many that wait are dropped and counted by the state."""
        if not self._link.ask_action(lambda: self._session.attempt_action(value)):
            self._link.tell(self._session.note_dropped_action)

    def takeover(self) -> None:
        """From now on a person acts, in the middle of the episode."""
        self._command({"cmd": "takeover"})

    def release(self) -> None:
        """The actor acts again."""
        self._command({"cmd": "release"})

    def pause(self) -> None:
        self._ask(self._session.pause)

    def resume(self) -> None:
        self._ask(self._session.resume)

    def step(self, count: int = 1) -> None:
        """Single steps, while paused."""
        self._command({"cmd": "step", "count": count})

    def reset(self, seed: int | None = None) -> None:
        """Begin a new episode."""
        self._command({"cmd": "reset"} | ({} if seed is None else {"seed": seed}))

    def speed(self, value: float) -> None:
        """Times real time; 0: as fast as it can."""
        self._command({"cmd": "speed", "value": value})

    def configure(
        self, *, auto_reset: bool | None = None, env_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        """Change how the session goes on; `env_kwargs` count from the next reset on."""
        command: dict[str, Any] = {"cmd": "configure"}
        if auto_reset is not None:
            command["auto_reset"] = auto_reset
        if env_kwargs is not None:
            command["env_kwargs"] = dict(env_kwargs)
        self._command(command)

    def stop(self) -> None:
        """End the run."""
        self._ask(self._session.stop)

    def newest_frame(self, after: int = 0) -> Frame | None:
        """The newest whole picture; None until there is one other than number `after`."""
        frames = self._session.frames
        return frames.newest(after) if frames else None

    def wait(self, condition: Callable[[SessionState], bool], timeout_s: float) -> SessionState:
        """Blocks, unlike all others: until what was asked for so far is done and `condition` holds.

        Raises `WaitTimeoutError` when that takes longer than `timeout_s`, or once the controller
        is closed, from when on nothing changes.
        """
        asked = self._link.asked
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while self._link.done < asked or not condition(self._state):
                if self._link.is_over:
                    raise WaitTimeoutError(
                        f"The session was closed while it was {self._state.phase}.",
                        remedy="Attach to the run again to see how it goes on.",
                    )
                if not self._changed.wait(deadline - time.monotonic()):
                    raise WaitTimeoutError(
                        f"After {timeout_s:g} s the session is still {self._state.phase}.",
                        remedy=str(self._state.error or "Wait longer, or look at the run's log."),
                    )
            return self._state

    def close(self) -> None:
        """Let go of the run; commands given before, such as `stop`, are still sent."""
        self._link.close()

    def join(self, timeout_s: float) -> bool:
        """Blocks: until the threads of a closed controller have ended, and whether they have."""
        deadline = time.monotonic() + timeout_s
        threads = [self._link.thread]
        self._link.thread.join(timeout_s)
        threads += self._session.threads
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _ask(self, command: Callable[[], None]) -> None:
        self._link.ask(lambda: self._session.attempt(command))

    def _command(self, command: Mapping[str, Any]) -> None:
        self._ask(lambda: self._session.control(command))

    def _tell(self, news: Callable[[], None]) -> None:
        self._link.tell(news)

    def _publish(self, state: SessionState) -> None:
        with self._changed:
            has_changed = state != self._state
            self._state = state
            self._changed.notify_all()
        if has_changed and self._on_change is not None:
            self._on_change(state)
