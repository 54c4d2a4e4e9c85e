"""FollowedRun: one run of a session, its state and its lease; RunCommands: calls for it.

Used by `SessionEngine`, on the session thread only.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.client.mailbox import Mailbox
from mosaic.client.sessions.run_follower import (
    EventUpdate,
    FrameSource,
    RecordUpdate,
    RunFollower,
    RunUpdate,
    StepUpdate,
)
from mosaic.client.sessions.session_requests import HUMAN, SESSION_WORKER
from mosaic.client.sessions.session_state import (
    EpisodeLine,
    EpisodeTracker,
    SessionPhase,
    SessionProblem,
    SessionState,
    get_phase,
)
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.decode import AnyEvent
from mosaic.contract.errors import UserError
from mosaic.contract.events import (
    EnvironmentEvent,
    EpisodeEnd,
    EpisodeStart,
    Hello,
    Log,
    PolicyEvent,
    Status,
    StepRecord,
)
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunDetails, RunRecord

_log = logging.getLogger(__name__)

_REJECTED_STATUS = "FAILED_PRECONDITION"
_CANCEL_RETRY_S = 1.0
_RENEWALS_PER_LEASE = 3
_RENEWAL_RETRY_S = 1.0
"""Delay after a renewal that failed."""
CONTROLLED_MODES = ("play", "evaluate")
"""Modes that run the play loop and accept its commands."""

Answer = TypeVar("Answer")


class FollowedRun:
    """One run of a session; `state` is the state of a session that consists of this run."""

    def __init__(
        self,
        client: TrainerClient,
        home: Home | None,
        run: RunRecord,
        config: TrainRunConfig,
        actor: str,
        on_update: Callable[["FollowedRun", RunUpdate], None],
        max_lines: int = 0,
    ) -> None:
        """`max_lines` is the capacity of `lines`; 0: none are kept."""
        self.run_id = run.run_id
        self.config = config
        self.actor = actor
        self.frames = FrameSource(client, home, run.run_id)
        self.has_started = False
        """The first step arrived; for a human actor, the first episode."""
        self.state = SessionState(
            run_id=run.run_id,
            env_id=config.env_id,
            actor=actor,
            can_control=config.mode in CONTROLLED_MODES,
        )
        self.lines: Mailbox[EpisodeLine] | None = None
        """Every line of the episodes of a run that can be controlled; others may be too fast."""
        if max_lines and self.state.can_control:
            self.lines = Mailbox(lambda: None, max_lines)
        self._on_update = on_update
        self._step_lock = threading.Lock()
        self._newest_step: StepRecord | None = None
        self._follower = RunFollower(client, run.run_id, self._receive, self.lines)
        self._episodes = EpisodeTracker()
        self._initial_actor, self._initial_actor_name = actor, ""
        self._has_reported_actor = False
        self._is_ready = False
        """The worker is running; for a session, it has created the environment."""
        self._is_worker_paused = False
        self._next_renewal_at = 0.0
        self.update_record(run)

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._follower.threads, *self.frames.threads)

    @property
    def is_active(self) -> bool:
        return self.state.phase.is_active

    @property
    def env_kwargs(self) -> Mapping[str, Any]:
        """Current keyword arguments of the environment; `configure` may have changed them."""
        environment = self.state.environment
        if environment is None or environment.env_kwargs is None or environment.not_replayable:
            return self.config.env_kwargs
        return environment.env_kwargs

    def get_worker_name(self, actor: str) -> str | None:
        """Return the worker's name of the actor that the run started with; None for any other."""
        return self._initial_actor_name or None if actor == self._initial_actor else None

    def follow(self) -> None:
        """Start to follow the run."""
        self._follower.start()

    def unfollow(self) -> None:
        """Stop following the run; the run itself is not changed."""
        self._follower.close()
        if self.lines is not None:
            self.lines.close()
        self.frames.close()

    def next_renewal(self) -> float | None:
        """Return when the lease has to be renewed next; None if the run needs no renewal."""
        needs_renewal = (
            self.config.lease_s is not None and self.state.can_control and self.is_active
        )
        return self._next_renewal_at if needs_renewal else None

    def schedule_renewal(self, now: float, *, is_renewed: bool) -> None:
        """Schedule the next renewal of the lease, sooner if this one failed."""
        interval_s = (self.config.lease_s or 0.0) / _RENEWALS_PER_LEASE
        self._next_renewal_at = now + (
            interval_s if is_renewed else min(_RENEWAL_RETRY_S, interval_s)
        )

    def handle_update(self, update: RunUpdate) -> None:
        """Apply an update of the follower."""
        if isinstance(update, RecordUpdate):
            self.update_record(update.run)
        elif isinstance(update, StepUpdate):
            with self._step_lock:
                newest, self._newest_step = self._newest_step, None
            self._add_step(newest or update.step)
        elif isinstance(update, EventUpdate):
            self._handle_event(update.event)

    def update_record(self, run: RunRecord) -> None:
        """Apply the newest record of the run."""
        phase = get_phase(run, self._is_ready, self._is_worker_paused)
        if self.state.phase is SessionPhase.FINISHED:
            return  # an answer to an earlier call may arrive after the end
        self._change(run=run, phase=phase)
        if run.state in (RunState.FAILED, RunState.LOST):
            self._change(error=SessionProblem(run.reason, run.remedy))

    def set_actor(self, actor: str) -> None:
        self.actor = actor
        self._change(actor=actor)

    def count_dropped_action(self) -> None:
        self._change(dropped_actions=self.state.dropped_actions + 1)

    def _receive(self, update: RunUpdate) -> None:
        """Called on the follower's threads. Steps that wait for the session thread are merged."""
        if isinstance(update, StepUpdate):
            with self._step_lock:
                is_waiting = self._newest_step is not None
                self._newest_step = update.step
            if is_waiting:
                return
        self._on_update(self, update)

    def _add_step(self, step: StepRecord) -> None:
        self.has_started = self._is_ready = True
        self._episodes.add(step)
        if step.actor and step.actor != HUMAN and not self._initial_actor_name:
            self._initial_actor_name = step.actor
        self._change(step=step, episode=self._episodes.current)
        if not self._has_reported_actor:
            self._set_acting(step.actor or self.actor)
        self._refresh_phase()

    def _handle_event(self, event: AnyEvent) -> None:
        if isinstance(event, Hello):
            self._is_ready = self._is_ready or not self.state.can_control
        elif isinstance(event, Status):
            self._is_worker_paused = event.state == "paused"
        elif isinstance(event, EnvironmentEvent):
            self._is_ready = True
            self._change(environment=event, policy=None)
        elif isinstance(event, PolicyEvent):
            self._change(policy=event if event.states else None)
        elif isinstance(event, EpisodeStart):
            self._is_ready = True
            self.has_started = self.has_started or self.actor == HUMAN
            self._episodes.add(event)
            self._change(episode=self._episodes.current)
        elif isinstance(event, EpisodeEnd):
            self._episodes.add(event)
            self._change(episode=self._episodes.current, episodes_finished=self._episodes.finished)
        elif isinstance(event, Log):
            self._handle_log(event)
        self._refresh_phase()

    def _handle_log(self, line: Log) -> None:
        self._change(last_log=line)
        fields = line.fields if isinstance(line.fields, dict) else {}
        if line.level == "info" and isinstance(fields.get("actor"), str):
            # Logged when the actor changes, so it is newer than any step still in transit.
            self._has_reported_actor = True
            self._set_reported_actor(fields.get("agent"))
            self._set_acting(fields["actor"])

    def _set_reported_actor(self, name: object) -> None:
        """Another client may have selected the actor, also before this one attached."""
        if isinstance(name, str) and name:
            is_actor_id = name == HUMAN or self.config.worker == SESSION_WORKER
            self.set_actor(name if is_actor_id else self._initial_actor)

    def _set_acting(self, acting: str) -> None:
        self._change(acting=acting, is_taken_over=acting == HUMAN and self.actor != HUMAN)

    def _refresh_phase(self) -> None:
        if self.state.run is not None:
            self.update_record(self.state.run)

    def _change(self, **fields: object) -> None:
        self.state = replace(self.state, **fields)  # type: ignore[arg-type] # callers pass field names


class RunCommands:
    """Daemon calls for the runs of one session, with connection state and pending cancels.

    Every call may raise `TrainerError`.
    """

    def __init__(self, client: TrainerClient) -> None:
        self.is_connected = True
        """Whether the daemon answered the last call."""
        self._client = client
        self._pending_cancels: dict[str, str] = {}
        """Runs that are no longer needed, each with the reason."""
        self._next_cancel_at = 0.0

    def submit(self, config: TrainRunConfig) -> RunRecord:
        return self._call(lambda: self._client.submit(config))

    def get_details(self, run_id: str) -> RunDetails:
        return self._call(lambda: self._client.run(run_id))

    def send(self, run: FollowedRun, command: Mapping[str, Any]) -> int:
        """Send a command and return its number. Sending also renews the lease."""
        seq = self._call(lambda: self._client.control(run.run_id, command))
        run.schedule_renewal(time.monotonic(), is_renewed=True)
        return seq

    def resume(self, run: FollowedRun) -> None:
        """Resume the run, also if its worker paused without the daemon."""
        if run.state.run is not None and run.state.run.state is RunState.PAUSED:
            self.change_state(run, self._client.resume, {RunState.RUNNING})
        else:
            self.send(run, {"cmd": "resume"})

    def stop(self, run: FollowedRun) -> None:
        reason = "Stopped by the user."
        expected = {RunState.STOPPING, *FINAL_STATES}
        self.change_state(run, lambda run_id: self._client.cancel(run_id, reason=reason), expected)

    def renew_lease_if_due(self, run: FollowedRun, now: float) -> float | None:
        """Return when the lease has to be renewed next; None if the run needs no renewal."""
        due = run.next_renewal()
        if due is None or due > now:
            return due
        try:
            run.update_record(self._call(lambda: self._client.renew_lease(run.run_id)))
        except UserError as error:
            _log.info("C216 lease of run %s could not be renewed: %s", run.run_id, error)
            run.schedule_renewal(now, is_renewed=False)
        else:
            run.schedule_renewal(now, is_renewed=True)
        return run.next_renewal()

    def cancel_soon(self, run_id: str, reason: str) -> None:
        """Cancel a run that is no longer needed as soon as the daemon is reachable."""
        self._pending_cancels[run_id] = reason
        self._next_cancel_at = 0.0

    def run_pending_cancels(self, now: float) -> float | None:
        """Cancel what is due and return when to try again; None if nothing is left."""
        while self._pending_cancels and now >= self._next_cancel_at:
            run_id, reason = next(iter(self._pending_cancels.items()))
            try:
                self._cancel(run_id, reason)
            except DaemonUnreachableError:
                self._next_cancel_at = now + _CANCEL_RETRY_S
                break
            except UserError as error:
                _log.info("C217 run %s was not cancelled: %s", run_id, error)
            del self._pending_cancels[run_id]
        return self._next_cancel_at if self._pending_cancels else None

    def _cancel(self, run_id: str, reason: str) -> RunRecord:
        return self._call(lambda: self._client.cancel(run_id, reason=reason))

    def change_state(
        self, run: FollowedRun, call: Callable[[str], RunRecord], expected: set[RunState]
    ) -> None:
        """Change the state of a run; a rejection is fine if the run is in that state already."""
        try:
            with self._connection_tracked():
                record = call(run.run_id)
            run.update_record(record)
        except TrainerError as error:
            if error.status != _REJECTED_STATUS:
                raise
            record = self.get_details(run.run_id).run
            run.update_record(record)
            if record.state not in expected:
                raise

    def _call(self, call: Callable[[], Answer]) -> Answer:
        with self._connection_tracked():
            return call()

    @contextmanager
    def _connection_tracked(self) -> Iterator[None]:
        """Set `is_connected` by the outcome of a call."""
        try:
            yield
        except DaemonUnreachableError:
            self.is_connected = False
            raise
        except UserError:
            self.is_connected = True
            raise
        self.is_connected = True
