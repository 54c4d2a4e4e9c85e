"""FollowedRun: one run of a session, with what has been seen of it and how it is held.

Used by `session.Session` on the session's thread alone.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mosaic.client.sessions.actor_descriptors import HUMAN
from mosaic.client.sessions.episode_track import EpisodeTrack
from mosaic.client.sessions.frame_source import FrameSource
from mosaic.client.sessions.run_follower import LineSeen, News, RunFollower, RunSeen, StepSeen
from mosaic.client.sessions.session_requests import SESSION_WORKER
from mosaic.client.sessions.session_state import (
    SessionPhase,
    SessionProblem,
    SessionState,
    phase_of,
)
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.decode import AnyEvent
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
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_HOLDS_PER_LEASE = 3
_HOLD_AGAIN_S = 1.0
"""After a daemon that did not answer."""
CONTROLLED_MODES = ("play", "evaluate")
"""Modes that are the play loop, and so understand its commands."""


class FollowedRun:
    """What is known of one run; `state` is what a session that consists of it looks like."""

    def __init__(
        self,
        client: TrainerClient,
        home: Home | None,
        run: RunRecord,
        config: TrainRunConfig,
        actor: str,
        tell: Callable[["FollowedRun", News], None],
    ) -> None:
        self.run_id = run.run_id
        self.config = config
        self.actor = actor
        self.frames = FrameSource(client, home, run.run_id)
        self.has_begun = False
        """Its first step was seen; of a person's session, its first episode."""
        self.state = SessionState(
            run_id=run.run_id,
            env_id=config.env_id,
            actor=actor,
            can_control=config.mode in CONTROLLED_MODES,
        )
        self._follower = RunFollower(client, run.run_id, lambda news: tell(self, news))
        self._episodes = EpisodeTrack()
        self._first_actor, self._first_name = actor, ""
        self._was_told_who_acts = False
        self._has_spoken = False
        """It is at work; of one that is played, there is an environment to act in."""
        self._says_paused = False
        self._hold_at = 0.0
        self.see(run)

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._follower.threads, *self.frames.threads)

    @property
    def is_going(self) -> bool:
        return self.state.phase.is_going

    @property
    def env_kwargs(self) -> Mapping[str, Any]:
        """What the environment is made with now: `configure` may have changed it."""
        made = self.state.environment
        if made is None or made.env_kwargs is None or made.not_replayable:
            return self.config.env_kwargs
        return made.env_kwargs

    def name_of(self, actor: str) -> str | None:
        """What the run's worker calls the actor that the run began with; None for any other."""
        return self._first_name or None if actor == self._first_actor else None

    def follow(self) -> None:
        """Begin to look at it."""
        self._follower.start()

    def let_go(self) -> None:
        """Stop looking at it; the run itself is left as it is."""
        self._follower.close()
        self.frames.close()

    def next_hold(self) -> float | None:
        """When it has to be held next; None when it needs no holding."""
        is_held = self.config.lease_s is not None and self.state.can_control and self.is_going
        return self._hold_at if is_held else None

    def note_held(self, now: float, *, is_done: bool) -> None:
        share_s = (self.config.lease_s or 0.0) / _HOLDS_PER_LEASE
        self._hold_at = now + (share_s if is_done else min(_HOLD_AGAIN_S, share_s))

    def take(self, news: News) -> None:
        """What its follower has seen."""
        if isinstance(news, RunSeen):
            self.see(news.run)
        elif isinstance(news, StepSeen):
            self._take_step(news.step)
        elif isinstance(news, LineSeen):
            self._take_line(news.event)

    def see(self, run: RunRecord) -> None:
        """The run as the daemon tells it."""
        phase = phase_of(run, self._has_spoken, self._says_paused)
        if self.state.phase is SessionPhase.OVER:
            return  # what was asked for before the end may be answered after it
        self._change(run=run, phase=phase)
        if run.state in (RunState.FAILED, RunState.LOST):
            self._change(error=SessionProblem(run.reason, run.remedy))

    def set_actor(self, actor: str) -> None:
        self.actor = actor
        self._change(actor=actor)

    def note_dropped_action(self) -> None:
        self._change(dropped_actions=self.state.dropped_actions + 1)

    def _take_step(self, step: StepRecord) -> None:
        self.has_begun = self._has_spoken = True
        self._episodes.take_step(step)
        if step.actor and step.actor != HUMAN and not self._first_name:
            self._first_name = step.actor
        self._change(step=step, episode=self._episodes.now)
        if not self._was_told_who_acts:
            self._note_acting(step.actor or self.actor)
        self._see_again()

    def _take_line(self, event: AnyEvent) -> None:
        if isinstance(event, Hello):
            self._has_spoken = self._has_spoken or not self.state.can_control
        elif isinstance(event, Status):
            self._says_paused = event.state == "paused"
        elif isinstance(event, EnvironmentEvent):
            self._has_spoken = True
            self._change(environment=event, policy=None)
        elif isinstance(event, PolicyEvent):
            self._change(policy=event if event.states else None)
        elif isinstance(event, EpisodeStart):
            self._has_spoken = True
            self.has_begun = self.has_begun or self.actor == HUMAN
            self._episodes.take_start(event)
            self._change(episode=self._episodes.now)
        elif isinstance(event, EpisodeEnd):
            self._episodes.take_end(event)
            self._change(episode=self._episodes.now, episodes_finished=self._episodes.finished)
        elif isinstance(event, Log):
            self._take_log(event)
        self._see_again()

    def _take_log(self, line: Log) -> None:
        self._change(last_log=line)
        fields = line.fields if isinstance(line.fields, dict) else {}
        if line.level == "info" and isinstance(fields.get("actor"), str):
            # Said when it changes, so it is newer than any step that is still on its way.
            self._was_told_who_acts = True
            self._note_agent(fields.get("agent"))
            self._note_acting(fields["actor"])

    def _note_agent(self, name: object) -> None:
        """Another client may have chosen the actor, also before this one came."""
        if isinstance(name, str) and name:
            is_an_id = name == HUMAN or self.config.worker == SESSION_WORKER
            self.set_actor(name if is_an_id else self._first_actor)

    def _note_acting(self, acting: str) -> None:
        self._change(acting=acting, is_taken_over=acting == HUMAN and self.actor != HUMAN)

    def _see_again(self) -> None:
        if self.state.run is not None:
            self.see(self.state.run)

    def _change(self, **fields: object) -> None:
        self.state = replace(self.state, **fields)  # type: ignore[arg-type] # named by the callers
