"""Session: what a session does, step by step, on its own thread.

`SessionController` hands it what people ask for, the followers of its runs what they see. It holds
the runs that need holding, and makes the state that everybody else looks at.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.client.sessions.actor_service import ActorService
from mosaic.client.sessions.actor_switch import CastInPlace, Succession, name_in_place
from mosaic.client.sessions.daemon_side import DaemonSide
from mosaic.client.sessions.followed_run import FollowedRun
from mosaic.client.sessions.frame_source import FrameSource
from mosaic.client.sessions.run_follower import FollowingFailed, LineSeen, News
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import SessionPhase, SessionProblem, SessionState
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.errors import UserError
from mosaic.contract.events import Log
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.runs import RunRecord

_IDLE_S = 60.0


class Session:
    """Everything here is called on the thread of `SessionLink`, but for `frames` and `threads`."""

    def __init__(
        self,
        client: TrainerClient,
        home: Home | None,
        publish: Callable[[SessionState], None],
        tell: Callable[[Callable[[], None]], None],
    ) -> None:
        """`publish` is given each state, `tell` has something done on the session's thread."""
        self._client = client
        self._home = home
        self._publish = publish
        self._tell = tell
        self._actors = ActorService(client)
        self._daemon = DaemonSide(client)
        self._current: FollowedRun | None = None
        self._casting: CastInPlace | None = None
        self._succession: Succession | None = None
        self._error: SessionProblem | None = None

    @property
    def frames(self) -> FrameSource | None:
        current = self._current
        return current.frames if current else None

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return tuple(thread for run in self._runs() for thread in run.threads)

    # What people ask for.

    def attempt(self, command: Callable[[], None]) -> None:
        """Do what was asked; what goes wrong with it is told by the state."""
        self._error = None
        try:
            command()
        except UserError as error:
            self._error = SessionProblem.of(error)

    def attempt_action(self, value: Any) -> None:
        """Unlike other commands, it leaves the error of an earlier one to be read."""
        try:
            self._daemon.send(self._controlled(), {"cmd": "action", "value": value})
        except DaemonUnreachableError:
            self.note_dropped_action()
        except UserError as error:
            self.note_dropped_action()
            self._error = SessionProblem.of(error)

    def note_dropped_action(self) -> None:
        if self._current is not None:
            self._current.note_dropped_action()

    def start(self, request: SessionRequest) -> None:
        """Beside a session that is going: that one ends when the new one has begun."""
        config = self._actors.run_config(request)
        current = self._current
        if current is not None and current.is_going and current.state.can_control:
            self._call_off_switch()
            self._be_succeeded(current, config, request.actor)
        else:
            self._let_go()
            self._current = self._submitted(config, request.actor)

    def attach(self, run_id: str) -> None:
        details = self._daemon.look_up(run_id)
        if details.run.state.is_final:
            raise TrainerError(
                f"Run {run_id} is over ({details.run.state}).",
                remedy=f"Look at it with `mosaic replay {run_id}`, or attach to one that runs.",
                code="C213",
            )
        config = load_run_config(details.config_json)
        self._let_go()
        self._current = self._followed(details.run, config, config.actor or config.worker)

    def switch_actor(self, actor: str) -> None:
        current = self._controlled()
        self._call_off_switch()
        if actor == current.actor:
            if current.state.is_taken_over:
                self._daemon.send(current, {"cmd": "release"})
            return
        name = name_in_place(current, actor)
        if name is not None:
            seq = self._daemon.send(current, {"cmd": "set_actor", "actor": name})
            self._casting = CastInPlace(actor, seq, time.monotonic())
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
        self._be_succeeded(current, self._actors.run_config(request), actor)

    def control(self, command: Mapping[str, Any]) -> None:
        self._daemon.send(self._controlled(), command)

    def pause(self) -> None:
        self._daemon.pause(self._controlled())

    def resume(self) -> None:
        self._daemon.resume(self._controlled())

    def stop(self) -> None:
        current = self._controlled()
        self._call_off_switch(resume=False)
        self._daemon.stop(current)

    # What the thread does between.

    def keep_up(self, now: float) -> float:
        """Do what is due, and say when something is due next."""
        due = [now + _IDLE_S, self._daemon.end_what_is_due(now)]
        due += [self._daemon.hold_if_due(run, now) for run in self._runs()]
        if self._casting is not None:
            if now >= self._casting.deadline:
                self._error = self._casting.too_late()
                self._casting = None
            else:
                due.append(self._casting.deadline)
        return min(moment for moment in due if moment is not None)

    def announce(self) -> None:
        state = self._current.state if self._current else SessionState()
        pending = self._succession or self._casting
        self._publish(
            replace(
                state,
                error=self._error or state.error,
                is_connected=self._daemon.is_connected,
                switching_to=pending.actor if pending else "",
            )
        )

    def shut(self) -> None:
        """Let go of everything. The run is left to its lease, without what it only waited for."""
        with suppress(UserError):
            self._call_off_switch()
        self._daemon.end_what_is_due(time.monotonic())
        if self._current is not None:
            self._current.let_go()

    # What is seen.

    def _on_news(self, run: FollowedRun, news: News) -> None:
        succession = self._succession
        if succession is not None and run is succession.run:
            run.take(news)
            if isinstance(news, FollowingFailed):
                self._give_up(succession, SessionProblem.of(news.error))
            elif run.has_begun:
                self._hand_over(succession)
            elif not run.is_going:
                self._give_up(succession, succession.failure())
        elif run is self._current:
            if isinstance(news, FollowingFailed):
                self._error = SessionProblem.of(news.error)
            elif isinstance(news, LineSeen) and isinstance(news.event, Log):
                self._judge_casting(news.event)
            run.take(news)

    # Switching the actor.

    def _judge_casting(self, line: Log) -> None:
        casting = self._casting
        verdict = casting.verdict(line) if casting else None
        if casting is None or verdict is None:
            return
        self._casting = None
        if isinstance(verdict, SessionProblem):
            self._error = verdict
        elif self._current is not None:
            self._current.set_actor(casting.actor)

    def _be_succeeded(self, current: FollowedRun, config: TrainRunConfig, actor: str) -> None:
        """The run stands still until the new one has begun, and goes on if that does not."""
        was_running = current.state.phase is SessionPhase.RUNNING
        if was_running:
            try:
                self._daemon.pause(current)
            except UserError:
                if current.is_going:
                    raise  # else it has ended by itself, and is not in the way
        try:
            run = self._submitted(config, actor)
        except UserError:
            if was_running and current.is_going:
                self._daemon.resume(current)
            raise
        self._succession = Succession(run, actor, was_running)

    def _hand_over(self, succession: Succession) -> None:
        self._succession = None
        before, self._current = self._current, succession.run
        if before is not None:
            before.let_go()
            reason = f"The session went on in run {succession.run.run_id}."
            self._daemon.end_soon(before.run_id, reason)

    def _give_up(self, succession: Succession, problem: SessionProblem) -> None:
        """The one before acts on."""
        self._error = problem
        try:
            self._end_succession(succession, resume=True)
        except UserError as error:
            self._error = SessionProblem.of(error)

    def _call_off_switch(self, *, resume: bool = True) -> None:
        self._casting = None
        if self._succession is not None:
            self._end_succession(self._succession, resume=resume)

    def _end_succession(self, succession: Succession, *, resume: bool) -> None:
        self._succession = None
        succession.run.let_go()
        if succession.run.is_going:
            self._daemon.end_soon(succession.run.run_id, "It did not come to act in the session.")
        if resume and succession.was_running and self._current is not None:
            self._daemon.resume(self._current)

    # The runs.

    def _runs(self) -> Iterator[FollowedRun]:
        current, succession = self._current, self._succession
        if current is not None:
            yield current
        if succession is not None:
            yield succession.run

    def _controlled(self) -> FollowedRun:
        """The run to be commanded; `TrainerError` when there is none."""
        current = self._current
        if current is None or not current.is_going:
            raise TrainerError(
                "No session is going on.", remedy="Start one, or attach to one.", code="C214"
            )
        if not current.state.can_control:
            raise TrainerError(
                f"Run {current.run_id} is in mode '{current.config.mode}': it can only be watched.",
                remedy="Start a session in its environment, or with one of its checkpoints.",
                code="C215",
            )
        return current

    def _submitted(self, config: TrainRunConfig, actor: str) -> FollowedRun:
        return self._followed(self._daemon.submit(config), config, actor)

    def _followed(self, record: RunRecord, config: TrainRunConfig, actor: str) -> FollowedRun:
        def tell(source: FollowedRun, news: News) -> None:
            self._tell(lambda: self._on_news(source, news))

        run = FollowedRun(self._client, self._home, record, config, actor, tell)
        run.follow()
        return run

    def _let_go(self) -> None:
        self._call_off_switch(resume=False)
        if self._current is not None:
            self._current.let_go()
            self._current = None
