"""What is going on in a session, and what is to happen next.

`loop.py` decides when; `commands.py` decides what people want. Nothing here waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.frames import FrameMailbox
from mosaic_worker.play.actor import print_cause
from mosaic_worker.play.host import Host, Wrap
from mosaic_worker.play.pacing import Ticker
from mosaic_worker.play.pictures import Pictures
from mosaic_worker.play.policy_telling import PolicyTelling
from mosaic_worker.play.refusal import RefusedError
from mosaic_worker.play.score import Score
from mosaic_worker.play.seeds import Seeds
from mosaic_worker.play.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.play.actor import ActorFactory
    from mosaic_worker.play.settings import Settings
    from mosaic_worker.run import Run

NOW_ACTS = "W141"
"""Somebody else acts from now on: an actor was chosen, or a person took over or gave back."""

ACTOR_FAILED = "W143"
"""The actor failed, so the session is paused; a person may take over."""

WAITS_FOR_RESET = "W145"
"""The episode is over, and the next one begins with `reset`, because auto_reset is off."""

ENVIRONMENT_KEPT = "W146"
"""The environment could not be made as configured; the one before stays."""

NOW, AT_TICK, ON_COMMAND = "now", "at tick", "on command"
"""When the next turn is."""


class Session:
    """One environment and whoever acts in it, from the first episode to the last."""

    def __init__(
        self,
        run: Run,
        factories: Mapping[str, ActorFactory],
        settings: Settings,
        wrap: Wrap | None = None,
    ) -> None:
        """Makes environment and actor. WorkerError says why one of them cannot be had."""
        self.score = Score(run, settings)
        self.ticker = Ticker(1.0, settings.first_speed)
        self.pictures = Pictures(FrameMailbox(run.directory / "frames", run.emitter), run.emitter)
        self._policy = PolicyTelling(run.emitter)
        self._config = run.config
        self._emitter = run.emitter
        self._recorder = run.recorder
        self._factories = factories
        self._settings = settings
        self._wrap = wrap
        self._seeds = Seeds(run.config.seed, settings)
        self._auto_reset = settings.auto_reset
        self._new_kwargs: Mapping[str, Any] | None = None
        self._is_paused = False
        self._is_over = True
        self._single_steps = 0
        self._single_steps_seq = 0
        self._situation: tuple[Any, dict[str, Any]] = (None, {})
        self._newest_step: Mapping[str, Any] = {}
        self._beginning: Mapping[str, Any] = {}
        self._listens = settings.frames or wrap is not None
        if self._listens:
            self._recorder.listener = self._note_step
            self._recorder.on_episode = self._note_beginning
        self.stage = self._set_stage(run.config.env_kwargs, settings.actor)
        self._raise_curtain()

    # When the next turn is, and what it is.

    def next_turn(self) -> str:
        """NOW, AT_TICK or ON_COMMAND."""
        if self._single_steps:
            return NOW
        if self._is_paused or self._awaits_reset:
            return ON_COMMAND
        if self.stage.awaits_person:
            if self.stage.has_new_action:
                return NOW
            return AT_TICK if self._is_over else ON_COMMAND
        return AT_TICK

    def take_turn(self, turn: str) -> None:
        """A step; or the beginning of the next episode, to be looked at until the next tick."""
        seq = self._single_steps_seq if self._single_steps else 0
        if self._is_over:
            self.begin_episode()
            if turn == AT_TICK or self.next_turn() != NOW:
                return
        self._single_steps = max(0, self._single_steps - 1)
        self._step(seq)

    @property
    def _awaits_reset(self) -> bool:
        return self._is_over and not self._auto_reset

    # What commands ask for.

    def pause(self, reason: str | None = None) -> None:
        self._is_paused = True
        self._single_steps = 0
        self._emitter.status("paused", reason)

    def resume(self) -> None:
        self._is_paused = False
        self.ticker.restart()
        self._emitter.status("running")

    def allow_steps(self, count: int, seq: int) -> None:
        """Take so many steps at once, although paused. RefusedError when that cannot be."""
        if not self._is_paused:
            raise RefusedError("The session is not paused.", remedy="Send pause first.")
        if self._awaits_reset:
            raise RefusedError("The episode is over.", remedy="Send reset first.")
        self._single_steps = count
        self._single_steps_seq = seq

    def give_action(self, value: Any, seq: int) -> None:
        """A person's action. RefusedError when it is none, or none is wanted."""
        if self._awaits_reset and self.stage.awaits_person:
            raise RefusedError("The episode is over.", remedy="Send reset first.")
        self.stage.give_action(value, seq)

    def cast(self, name: str, seq: int) -> None:
        """Let another actor act. RefusedError, and the one before acts on, if it cannot."""
        self.stage.cast(name, None if self._is_over else self._situation)
        self._tell_who_acts(seq)
        self._policy.tell(self.stage.agent, self.score.steps)

    def take_over(self, seq: int) -> None:
        self.stage.take_over()
        self._tell_who_acts(seq)

    def give_back(self, seq: int) -> None:
        """After a person took over. RefusedError when there is nobody to give back to."""
        self.stage.give_back()
        self._tell_who_acts(seq)

    def configure(self, auto_reset: bool | None, env_kwargs: Mapping[str, Any] | None) -> None:
        """`auto_reset` at once, `env_kwargs` at the next reset."""
        if auto_reset is not None:
            self._auto_reset = auto_reset
        if env_kwargs is not None:
            self._new_kwargs = env_kwargs

    def begin_episode(self, seed: int | None = None, seq: int = 0) -> None:
        """The episode before stays unfinished if it was. Raises only what ends the run."""
        if self._new_kwargs is not None:
            self._change_environment(self._new_kwargs, seq)
            self._new_kwargs = None
        agent = self.stage.agent
        if seed is None:
            seed = self._seeds.next(self.score.episodes, agent.episode_seed)
        self._situation = self.stage.host.reset(seed)
        self._is_over = False
        if not self._settings.is_evaluation:
            self._recorder.flush()  # it is to be looked at before anything happens in it
        self.score.begin_episode()
        self.pictures.show_beginning(self._beginning, seq)
        self.ticker.restart()
        try:
            agent.begin_episode(*self._situation)
        except WorkerError as error:
            self._actor_failed(error)
        else:
            self._policy.tell(agent, self.score.steps)

    def close(self) -> None:
        self.pictures.close()
        self.stage.close()

    # One step.

    def _step(self, seq: int) -> None:
        try:
            choice = self.stage.choose(*self._situation)
        except WorkerError as error:
            self._actor_failed(error)
            return
        seq = seq or choice.seq
        self._recorder.note(actor=self.stage.acting, seq=seq or None)
        observation, reward, terminated, truncated, info = self.stage.host.step(choice.action)
        self._situation = (observation, info)
        self._is_over = bool(terminated or truncated)
        if self._listens:
            self.pictures.show_step(self._newest_step, seq, is_last=self._is_over)
        else:
            self.score.add_step(reward)
        if self._is_over:
            self._end_episode()

    def _note_step(self, fields: Mapping[str, Any]) -> None:
        """Called by the recorder: what it records counts, whatever wrappers make of it."""
        self._newest_step = fields
        self.score.add_step(fields["reward"])

    def _note_beginning(self, fields: Mapping[str, Any]) -> None:
        self._beginning = fields

    def _end_episode(self) -> None:
        self.score.end_episode()
        self.ticker.restart()  # the end is to be looked at, too
        if not self._auto_reset and not self.score.is_complete:
            self._single_steps = 0
            self._emitter.log(
                "info", WAITS_FOR_RESET, "The episode is over; the next one begins with reset."
            )

    def _actor_failed(self, error: WorkerError) -> None:
        """Whoever holds the session can do something about it; without anybody it is the end."""
        name = self.stage.agent.name
        message = f"The actor '{name}' failed: {error.message}"
        if not self._settings.is_attended:
            raise WorkerError(message, remedy=error.remedy) from error
        print_cause(error)
        sentences = (message, error.remedy, "The session is paused; you may take over.")
        self._emitter.log("error", ACTOR_FAILED, " ".join(sentences), actor=name)
        self.pause(message)

    def _tell_who_acts(self, seq: int) -> None:
        acting, agent = self.stage.acting, self.stage.agent.name
        message = f"From now on {acting} acts."
        self._emitter.log("info", NOW_ACTS, message, actor=acting, agent=agent, seq=seq)

    # The environment.

    def _set_stage(self, env_kwargs: Mapping[str, Any], actor: str) -> Stage:
        """Another environment with an actor made for it; WorkerError, and neither is left over."""
        settings = self._settings
        host = Host(self._config.env_id, env_kwargs, draws=settings.frames, wrap=self._wrap)
        try:
            return Stage(host, self._factories, actor, settings)
        except WorkerError:
            host.close()
            raise

    def _raise_curtain(self) -> None:
        host = self.stage.host
        host.record(self._recorder)
        self.ticker.set_pace(tick_s=self._settings.tick_s or host.tick_s)
        self.pictures.start(host.render)
        self._policy.start()

    def _change_environment(self, env_kwargs: Mapping[str, Any], seq: int) -> None:
        """All or nothing: a new environment and an actor made for it, or everything as it was."""
        old = self.stage
        try:
            new = self._set_stage(env_kwargs, old.agent.name)
        except WorkerError as error:
            print_cause(error)
            message = f"The environment stays as it was: {error}"
            self._emitter.log("error", ENVIRONMENT_KEPT, message, seq=seq)
            return
        if old.person_acts:
            new.take_over()
        old.close()
        self.stage = new
        self._raise_curtain()
