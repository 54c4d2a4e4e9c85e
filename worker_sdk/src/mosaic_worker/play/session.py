"""PlaySession: the state of a play session and the operations on it.

`loop.py` decides when to step; `commands.py` maps commands to the methods. Nothing here blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import CommandError, WorkerError
from mosaic_worker.frames import FrameMailbox
from mosaic_worker.play.actor import print_traceback
from mosaic_worker.play.actor_slot import ActorSlot
from mosaic_worker.play.episode_stats import EpisodeStats
from mosaic_worker.play.frame_publisher import FramePublisher
from mosaic_worker.play.pacing import Ticker
from mosaic_worker.play.policy_publisher import PolicyPublisher
from mosaic_worker.play.session_env import SessionEnv, Wrap
from mosaic_worker.play.settings import SeedSchedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.play.actor import ActorFactory
    from mosaic_worker.play.settings import PlaySettings
    from mosaic_worker.run import Run

CONTROL_CHANGED = "W141"
"""Control has changed: an actor was chosen, or a human took over or released control."""

ACTOR_FAILED = "W143"
"""The actor failed, so the session is paused; a human may take over."""

WAITS_FOR_RESET = "W145"
"""The episode has ended; `reset` starts the next one, because auto_reset is off."""

ENVIRONMENT_UNCHANGED = "W146"
"""The environment could not be created with the new arguments; the current one stays."""

NOW, AT_TICK, ON_COMMAND = "now", "at tick", "on command"
"""When the next turn is due."""


class PlaySession:
    """An environment and its actors, from the first episode to the last."""

    def __init__(
        self,
        run: Run,
        factories: Mapping[str, ActorFactory],
        settings: PlaySettings,
        wrap: Wrap | None = None,
    ) -> None:
        """Create the environment and the actor. Raises WorkerError."""
        self.stats = EpisodeStats(run, settings)
        self.ticker = Ticker(1.0, settings.initial_speed)
        mailbox = FrameMailbox(run.directory / "frames", run.emitter)
        self.frames = FramePublisher(mailbox, run.emitter)
        self._policy = PolicyPublisher(run.emitter)
        self._config = run.config
        self._emitter = run.emitter
        self._recorder = run.recorder
        self._factories = factories
        self._settings = settings
        self._wrap = wrap
        self._seeds = SeedSchedule(run.config.seed, settings)
        self._auto_reset = settings.auto_reset
        self._new_kwargs: Mapping[str, Any] | None = None
        self._is_paused = False
        self._is_finished = True
        self._single_steps = 0
        self._single_steps_seq = 0
        self._observation_and_info: tuple[Any, dict[str, Any]] = (None, {})
        self._newest_step: Mapping[str, Any] = {}
        self._start_fields: Mapping[str, Any] = {}
        self._has_listener = settings.frames or wrap is not None
        if self._has_listener:
            self._recorder.listener = self._on_step
            self._recorder.on_episode = self._on_episode_start
        self.slot = self._make_slot(run.config.env_kwargs, settings.actor)
        self._start_env()

    # Turns.

    def next_turn(self) -> str:
        """NOW, AT_TICK or ON_COMMAND."""
        if self._single_steps:
            return NOW
        if self._is_paused or self._waits_for_reset:
            return ON_COMMAND
        if self.slot.waits_for_human:
            if self.slot.has_new_action:
                return NOW
            return AT_TICK if self._is_finished else ON_COMMAND
        return AT_TICK

    def run_turn(self, turn: str) -> None:
        """Take a step, or start the next episode and show it until the next tick."""
        seq = self._single_steps_seq if self._single_steps else 0
        if self._is_finished:
            self.start_episode()
            if turn == AT_TICK or self.next_turn() != NOW:
                return
        self._single_steps = max(0, self._single_steps - 1)
        self._step(seq)

    @property
    def _waits_for_reset(self) -> bool:
        return self._is_finished and not self._auto_reset

    # Commands.

    def pause(self, reason: str | None = None) -> None:
        self._is_paused = True
        self._single_steps = 0
        self._emitter.status("paused", reason)

    def resume(self) -> None:
        self._is_paused = False
        self.ticker.restart()
        self._emitter.status("running")

    def allow_steps(self, count: int, seq: int) -> None:
        """Take `count` steps while paused. Raises CommandError if that is not possible."""
        if not self._is_paused:
            raise CommandError("The session is not paused.", remedy="Send pause first.")
        if self._waits_for_reset:
            raise CommandError("The episode has ended.", remedy="Send reset first.")
        self._single_steps = count
        self._single_steps_seq = seq

    def set_human_action(self, value: Any, seq: int) -> None:
        """Set the next human action. Raises CommandError if it is invalid or not expected."""
        if self._waits_for_reset and self.slot.waits_for_human:
            raise CommandError("The episode has ended.", remedy="Send reset first.")
        self.slot.set_human_action(value, seq)

    def set_actor(self, name: str, seq: int) -> None:
        """Replace the actor. Raises CommandError, and keeps the current one, if it cannot act."""
        self.slot.set_actor(name, None if self._is_finished else self._observation_and_info)
        self._log_control(seq)
        self._policy.publish(self.slot.actor, self.stats.steps)

    def take_over(self, seq: int) -> None:
        self.slot.take_over()
        self._log_control(seq)

    def release(self, seq: int) -> None:
        """Give control back to the actor. Raises CommandError if there is none."""
        self.slot.release()
        self._log_control(seq)

    def configure(self, auto_reset: bool | None, env_kwargs: Mapping[str, Any] | None) -> None:
        """`auto_reset` applies immediately, `env_kwargs` at the next reset."""
        if auto_reset is not None:
            self._auto_reset = auto_reset
        if env_kwargs is not None:
            self._new_kwargs = env_kwargs

    def start_episode(self, seed: int | None = None, seq: int = 0) -> None:
        """Reset the environment; a running episode stays unfinished. Raises what ends the run."""
        if self._new_kwargs is not None:
            self._change_environment(self._new_kwargs, seq)
            self._new_kwargs = None
        actor = self.slot.actor
        if seed is None:
            seed = self._seeds.next(self.stats.episodes, actor.episode_seed)
        self._observation_and_info = self.slot.env.reset(seed)
        self._is_finished = False
        if not self._settings.is_evaluation:
            self._recorder.flush()  # live views show the start before the first step
        self.stats.start_episode()
        self.frames.show_start(self._start_fields, seq)
        self.ticker.restart()
        try:
            actor.begin_episode(*self._observation_and_info)
        except WorkerError as error:
            self._actor_failed(error)
        else:
            self._policy.publish(actor, self.stats.steps)

    def close(self) -> None:
        self.frames.close()
        self.slot.close()

    # One step.

    def _step(self, seq: int) -> None:
        try:
            choice = self.slot.choose(*self._observation_and_info)
        except WorkerError as error:
            self._actor_failed(error)
            return
        seq = seq or choice.seq
        self._recorder.annotate(actor=self.slot.active_name, seq=seq or None)
        observation, reward, terminated, truncated, info = self.slot.env.step(choice.action)
        self._observation_and_info = (observation, info)
        self._is_finished = bool(terminated or truncated)
        if self._has_listener:
            self.frames.show_step(self._newest_step, seq, is_last=self._is_finished)
        else:
            self.stats.add_step(reward)
        if self._is_finished:
            self._end_episode()

    def _on_step(self, fields: Mapping[str, Any]) -> None:
        """Called by the recorder with the unwrapped reward, which is the one that counts."""
        self._newest_step = fields
        self.stats.add_step(fields["reward"])

    def _on_episode_start(self, fields: Mapping[str, Any]) -> None:
        self._start_fields = fields

    def _end_episode(self) -> None:
        self.stats.end_episode()
        self.ticker.restart()  # show the end for a complete period
        if not self._auto_reset and not self.stats.is_complete:
            self._single_steps = 0
            self._emitter.log(
                "info", WAITS_FOR_RESET, "The episode has ended; send reset to start the next one."
            )

    def _actor_failed(self, error: WorkerError) -> None:
        """Pause if a client is attached and can react; otherwise the run fails."""
        name = self.slot.actor.name
        message = f"The actor '{name}' failed: {error.message}"
        if not self._settings.is_attended:
            raise WorkerError(message, remedy=error.remedy) from error
        print_traceback(error)
        sentences = (message, error.remedy, "The session is paused; you can take over.")
        self._emitter.log("error", ACTOR_FAILED, " ".join(sentences), actor=name)
        self.pause(message)

    def _log_control(self, seq: int) -> None:
        active, agent = self.slot.active_name, self.slot.actor.name
        message = f"{active} is now in control."
        self._emitter.log("info", CONTROL_CHANGED, message, actor=active, agent=agent, seq=seq)

    # The environment.

    def _make_slot(self, env_kwargs: Mapping[str, Any], actor: str) -> ActorSlot:
        """Create an environment and its actor. Raises WorkerError, and leaves neither open."""
        settings = self._settings
        env = SessionEnv(
            self._config.env_id, env_kwargs, has_frames=settings.frames, wrap=self._wrap
        )
        try:
            return ActorSlot(env, self._factories, actor, settings)
        except WorkerError:
            env.close()
            raise

    def _start_env(self) -> None:
        env = self.slot.env
        env.record(self._recorder)
        self.ticker.set_pace(tick_s=self._settings.tick_s or env.tick_s)
        self.frames.start(env.render)
        self._policy.start()

    def _change_environment(self, env_kwargs: Mapping[str, Any], seq: int) -> None:
        """Replace environment and actor, or keep both if one cannot be created."""
        old = self.slot
        try:
            new = self._make_slot(env_kwargs, old.actor.name)
        except WorkerError as error:
            print_traceback(error)
            message = f"The environment was not changed: {error}"
            self._emitter.log("error", ENVIRONMENT_UNCHANGED, message, seq=seq)
            return
        if old.is_human_active:
            new.take_over()
        old.close()
        self.slot = new
        self._start_env()
