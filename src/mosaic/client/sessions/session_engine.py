"""SessionEngine: the logic of a session, on the session thread.

`SessionController` passes commands to it, the followers of its runs pass updates. It renews leases
and publishes the state of the session.

The actor is switched within the worker process, or by handing over to another run. In both cases
the previous actor keeps acting until the next one does, and if the switch fails.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.client.mailbox import Mailbox
from mosaic.client.sessions.actor_service import ActorService
from mosaic.client.sessions.followed_run import FollowedRun, RunCommands
from mosaic.client.sessions.run_follower import EventUpdate, FollowFailed, FrameSource, RunUpdate
from mosaic.client.sessions.session_requests import (
    HUMAN,
    SESSION_WORKER,
    SessionRequest,
    is_session_worker_actor,
)
from mosaic.client.sessions.session_state import (
    EpisodeLine,
    SessionPhase,
    SessionProblem,
    SessionState,
)
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.errors import UserError
from mosaic.contract.events import Log
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

NO_REPLY = "C218"
"""The worker did not reply to a switch of the actor; the previous actor keeps acting."""
HANDOVER_FAILED = "C219"
"""The run of the next actor ended before its first step; the previous actor keeps acting."""

_REPLY_TIMEOUT_S = 30.0
"""The worker may have to import or load the actor first."""
_IDLE_S = 60.0


def find_in_process_name(run: FollowedRun, actor: str) -> str | None:
    """Return the actor's name in the run's worker; None if the actor needs another run."""
    if actor == HUMAN:
        return HUMAN  # every play loop supports a human actor
    if run.config.worker == SESSION_WORKER and is_session_worker_actor(actor):
        return actor
    return run.get_worker_name(actor)


@dataclass(frozen=True, slots=True)
class InProcessSwitch:
    """A switch within the worker process that waits for the worker's reply."""

    actor: str
    seq: int
    """Number of the command; the worker's reply contains it."""
    requested_at: float

    @property
    def deadline(self) -> float:
        return self.requested_at + _REPLY_TIMEOUT_S

    def read_reply(self, line: Log) -> SessionProblem | bool | None:
        """Return True if the actor now acts, the problem if it cannot, None for any other line."""
        fields = line.fields if isinstance(line.fields, dict) else {}
        if fields.get("seq") != self.seq:
            return None
        return True if line.level == "info" else SessionProblem(line.message, code=line.code)

    def timeout_problem(self) -> SessionProblem:
        return SessionProblem(
            f"The worker did not confirm the actor '{self.actor}'; the previous one keeps acting.",
            "Try again; the run's log may show what the worker is doing.",
            NO_REPLY,
        )


@dataclass(frozen=True, slots=True)
class RunHandover:
    """A run that replaces the current run of the session once it has started."""

    run: FollowedRun
    actor: str
    was_running: bool
    """The current run was paused for the handover and resumes if it fails."""

    def failure_problem(self) -> SessionProblem:
        record = self.run.state.run
        reason = record.reason if record else ""
        return SessionProblem(
            f"'{self.actor}' could not start; the previous actor keeps acting. {reason}".strip(),
            (record.remedy if record else "") or "See the log of its run.",
            HANDOVER_FAILED,
        )


class SessionEngine:
    """Session thread only, except `frames`, `lines` and `threads`."""

    def __init__(
        self,
        client: TrainerClient,
        home: Home | None,
        publish: Callable[[SessionState], None],
        post: Callable[[Callable[[], None]], None],
        max_lines: int,
    ) -> None:
        """`publish` receives each state; `post` runs a function on the session thread."""
        self._max_lines = max_lines
        self._client = client
        self._home = home
        self._publish = publish
        self._post = post
        self._actors = ActorService(client)
        self._commands = RunCommands(client)
        self._current: FollowedRun | None = None
        self._switch: InProcessSwitch | None = None
        self._handover: RunHandover | None = None
        self._error: SessionProblem | None = None

    @property
    def frames(self) -> FrameSource | None:
        current = self._current
        return current.frames if current else None

    def lines(self, run_id: str) -> Mailbox[EpisodeLine] | None:
        current = self._current
        return current.lines if current and current.state.run_id == run_id else None

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return tuple(thread for run in self._runs() for thread in run.threads)

    # Commands.

    def attempt(self, command: Callable[[], None], *, is_action: bool) -> None:
        """Run a command; an error becomes part of the state, until the next command.

        Actions do not clear an earlier error.
        """
        if not is_action:
            self._error = None
        try:
            command()
        except UserError as error:
            self._error = SessionProblem.from_error(error)

    def act(self, value: Any) -> None:
        """Send an action. An action that cannot be sent is counted."""
        try:
            self._commands.send(self._get_controlled(), {"cmd": "action", "value": value})
        except DaemonUnreachableError:
            self.count_dropped_action()
        except UserError:
            self.count_dropped_action()
            raise

    def count_dropped_action(self) -> None:
        if self._current is not None:
            self._current.count_dropped_action()

    def start(self, request: SessionRequest) -> None:
        """Start a run. A running session ends once the new one has started."""
        config = self._actors.to_run_config(request)
        current = self._current
        if current is not None and current.is_active and current.state.can_control:
            self._cancel_switch()
            self._begin_handover(current, config, request.actor)
        else:
            self._release_current()
            self._current = self._submit(config, request.actor)

    def attach(self, run_id: str) -> None:
        details = self._commands.get_details(run_id)
        if details.run.state.is_final:
            raise TrainerError(
                f"Run {run_id} has finished ({details.run.state}).",
                remedy=f"Replay it with `mosaic replay {run_id}`, or attach to a running one.",
                code="C213",
            )
        config = load_run_config(details.config_json)
        self._release_current()
        self._current = self._follow(details.run, config, config.actor or config.worker)

    def switch_actor(self, actor: str) -> None:
        current = self._get_controlled()
        self._cancel_switch()
        if actor == current.actor:
            if current.state.is_taken_over:
                self._commands.send(current, {"cmd": "release"})
            return
        name = find_in_process_name(current, actor)
        if name is not None:
            seq = self._commands.send(current, {"cmd": "set_actor", "actor": name})
            self._switch = InProcessSwitch(actor, seq, time.monotonic())
            return
        request = SessionRequest(
            env_id=current.config.env_id,
            actor=actor,
            env_kwargs=current.env_kwargs,
            seed=current.config.seed,
            episodes=current.config.episodes,
            total_timesteps=current.config.total_timesteps,
            frames=current.config.telemetry.frames,
            lease_s=current.config.lease_s,
            steps=current.config.telemetry.steps,
            python_path=current.config.python_path,
        )
        self._begin_handover(current, self._actors.to_run_config(request), actor)

    def control(self, command: Mapping[str, Any]) -> None:
        self._commands.send(self._get_controlled(), command)

    def pause(self) -> None:
        run = self._get_controlled()
        self._commands.change_state(run, self._client.pause, {RunState.PAUSED})

    def resume(self) -> None:
        self._commands.resume(self._get_controlled())

    def stop(self) -> None:
        current = self._get_controlled()
        self._cancel_switch(resume=False)
        self._commands.stop(current)

    # Called by the session thread between commands.

    def run_due_tasks(self, now: float) -> float:
        """Run what is due and return when something is due next."""
        due = [now + _IDLE_S, self._commands.run_pending_cancels(now)]
        due += [self._commands.renew_lease_if_due(run, now) for run in self._runs()]
        if self._switch is not None:
            if now >= self._switch.deadline:
                self._error = self._switch.timeout_problem()
                self._switch = None
            else:
                due.append(self._switch.deadline)
        return min(due_at for due_at in due if due_at is not None)

    def publish_state(self) -> None:
        state = self._current.state if self._current else SessionState()
        pending = self._handover or self._switch
        self._publish(
            replace(
                state,
                error=self._error or state.error,
                is_connected=self._commands.is_connected,
                switching_to=pending.actor if pending else "",
            )
        )

    def close(self) -> None:
        """Stop following all runs. The current run continues until its lease expires."""
        with suppress(UserError):
            self._cancel_switch()
        self._commands.run_pending_cancels(time.monotonic())
        if self._current is not None:
            self._current.unfollow()

    # Updates of the followed runs.

    def _on_update(self, run: FollowedRun, update: RunUpdate) -> None:
        handover = self._handover
        if handover is not None and run is handover.run:
            run.handle_update(update)
            if isinstance(update, FollowFailed):
                self._abort_handover(handover, SessionProblem.from_error(update.error))
            elif run.has_started:
                self._complete_handover(handover)
            elif not run.is_active:
                self._abort_handover(handover, handover.failure_problem())
        elif run is self._current:
            if isinstance(update, FollowFailed):
                self._error = SessionProblem.from_error(update.error)
            elif isinstance(update, EventUpdate) and isinstance(update.event, Log):
                self._check_switch_reply(update.event)
            run.handle_update(update)

    # Switching the actor.

    def _check_switch_reply(self, line: Log) -> None:
        switch = self._switch
        reply = switch.read_reply(line) if switch else None
        if switch is None or reply is None:
            return
        self._switch = None
        if isinstance(reply, SessionProblem):
            self._error = reply
        elif self._current is not None:
            self._current.set_actor(switch.actor)

    def _begin_handover(self, current: FollowedRun, config: TrainRunConfig, actor: str) -> None:
        """Pause the run until the new one has started; it resumes if that fails."""
        was_running = current.state.phase is SessionPhase.RUNNING
        if was_running:
            try:
                self._commands.change_state(current, self._client.pause, {RunState.PAUSED})
            except UserError:
                if current.is_active:
                    raise  # otherwise it has finished, and there is nothing to pause
        try:
            run = self._submit(config, actor)
        except UserError:
            if was_running and current.is_active:
                self._commands.resume(current)
            raise
        self._handover = RunHandover(run, actor, was_running)

    def _complete_handover(self, handover: RunHandover) -> None:
        self._handover = None
        previous, self._current = self._current, handover.run
        if previous is not None:
            previous.unfollow()
            reason = f"The session continued in run {handover.run.run_id}."
            self._commands.cancel_soon(previous.run_id, reason)

    def _abort_handover(self, handover: RunHandover, problem: SessionProblem) -> None:
        """Return to the previous run, whose actor keeps acting."""
        self._error = problem
        try:
            self._discard_handover(handover, resume=True)
        except UserError as error:
            self._error = SessionProblem.from_error(error)

    def _cancel_switch(self, *, resume: bool = True) -> None:
        self._switch = None
        if self._handover is not None:
            self._discard_handover(self._handover, resume=resume)

    def _discard_handover(self, handover: RunHandover, *, resume: bool) -> None:
        self._handover = None
        handover.run.unfollow()
        if handover.run.is_active:
            self._commands.cancel_soon(handover.run.run_id, "It was not used by the session.")
        if resume and handover.was_running and self._current is not None:
            self._commands.resume(self._current)

    # Runs.

    def _runs(self) -> Iterator[FollowedRun]:
        current, handover = self._current, self._handover
        if current is not None:
            yield current
        if handover is not None:
            yield handover.run

    def _get_controlled(self) -> FollowedRun:
        """Return the run that accepts commands; raise `TrainerError` if there is none."""
        current = self._current
        if current is None or not current.is_active:
            raise TrainerError(
                "No session is running.", remedy="Start one, or attach to one.", code="C214"
            )
        if not current.state.can_control:
            raise TrainerError(
                f"Run {current.run_id} cannot be controlled: its mode is '{current.config.mode}'.",
                remedy="Start a session in its environment, or with one of its checkpoints.",
                code="C215",
            )
        return current

    def _submit(self, config: TrainRunConfig, actor: str) -> FollowedRun:
        return self._follow(self._commands.submit(config), config, actor)

    def _follow(self, record: RunRecord, config: TrainRunConfig, actor: str) -> FollowedRun:
        def on_update(source: FollowedRun, update: RunUpdate) -> None:
            self._post(lambda: self._on_update(source, update))

        run = FollowedRun(
            self._client, self._home, record, config, actor, on_update, self._max_lines
        )
        run.follow()
        return run

    def _release_current(self) -> None:
        self._cancel_switch(resume=False)
        if self._current is not None:
            self._current.unfollow()
            self._current = None
