"""Session: everything around an algorithm, so that a learner's file holds the algorithm alone.

A learner makes its environments with `make_envs`, asks `first_observations` where to begin, tells
`scalars` and `episodes`, calls `go_on` between two updates, and ends with `finish`.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cleanrl_worker.environments.lane import Position
from cleanrl_worker.environments.making import make_vector, one_array
from cleanrl_worker.session.checkpoint_file import Checkpoint
from cleanrl_worker.session.checkpoint_keeper import CheckpointKeeper
from cleanrl_worker.session.device import choose_device, set_threads
from cleanrl_worker.session.outlet import FinishedEpisode
from cleanrl_worker.session.plan import plan_of_script
from cleanrl_worker.session.random_numbers import random_state, seed_all, set_random_state
from cleanrl_worker.session.starting_point import read_starting_point
from cleanrl_worker.tracking.trackers import SessionTrackers
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.errors import WorkerError
from mosaic_worker.tracking.settings import make_run_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import torch

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.session.outlet import Outlet
    from cleanrl_worker.session.plan import SessionPlan

    State = Callable[[], dict[str, Any]]
    """`policy` and `training`, and `normalization` where there is one; see checkpoint_file."""

_LOOK_SECONDS = 0.05
_PROGRESS_SECONDS = 1.0
_RECENT_EPISODES = 100


class Moment(NamedTuple):
    """Where everything but the learner was at a step."""

    step: int
    random: dict[str, Any]
    environments: list[dict[str, Any]]


class Session:
    """One training, from its first step or from a checkpoint to its end."""

    device: torch.device

    def __init__(
        self,
        algo: str,
        args: SharedArgs,
        outlet: Outlet,
        plan: SessionPlan | None = None,
        *,
        is_large: bool = False,
    ) -> None:
        """`is_large`: the networks are worth several processors. Raises `WorkerError`."""
        self.algo = algo
        self.args = args
        self._outlet = outlet
        self._plan = plan or plan_of_script(args, len(os.sched_getaffinity(0)))
        self.run_name = make_run_name(args.env_id, args.exp_name or algo, args.seed)
        self.threads = set_threads(args, self._plan.processors, is_large=is_large)
        self.device = choose_device(args, self._plan.gpus)
        seed_all(args.seed)
        start = read_starting_point(self._plan, algo, args)
        if start.words:
            self.say("info", start.words)
        self.resumed = start.resumed
        """Where an interrupted training goes on from: the learner restores its `training`."""
        self.warm = start.warm
        """Whose policy a new training begins with; of a resumed one the same as `resumed`."""
        self.came_back = True
        """Whether a resumed training's environments go on in the middle of their episodes."""
        self.first_step = self.resumed.global_step if self.resumed else 0
        self._keeper = CheckpointKeeper(
            outlet, every=args.checkpoint_every, keep=self._plan.keep_checkpoints
        )
        self._keeper.begin_at(self.first_step)
        if self.resumed:
            self._keeper.best_return = self.resumed.best_return
        self._trackers = SessionTrackers(outlet, self._plan, args, algo, self.run_name)
        before = self.resumed
        self._returns: deque[float] = deque(before.returns if before else (), _RECENT_EPISODES)
        self._episodes = before.episodes if before else 0
        self._envs: SameStepVector | None = None
        self._env_kwargs = self._plan.env_kwargs
        self._started = self._looked = self._told = time.monotonic()
        self._look_at = self._looked_at = self.first_step
        self._has_saved_at: int | None = None

    # Environments.

    def make_envs(
        self,
        wrap: Callable[[Any], Any] = one_array,
        *,
        settings: Mapping[str, Any] | None = None,
        reports_every_end: bool = True,
    ) -> SameStepVector:
        """The environments to train in, made with `settings` unless the run has others.

        Raises `WorkerError`.
        """
        self._env_kwargs = {**(settings or {}), **self._plan.env_kwargs}
        self._envs = make_vector(
            self.args.env_id,
            self._env_kwargs,
            self.args.num_envs,
            wrap,
            on_made=self._on_made,
            draws_first=self.args.capture_video or self._outlet.draws_first,
            reports_every_end=reports_every_end,
        )
        return self._envs

    def require_actions(self, envs: SameStepVector, kind: str) -> None:
        """`kind` is `discrete` or `box`. Raises `WorkerError` when the environment has others."""
        space = describe_space(envs.single_action_space)
        if space["type"] == kind:
            return
        fitting = {
            "discrete": "ppo, dqn, c51, rainbow, pqn or sac",
            "box": "ppo_continuous_action, sac_continuous_action, td3_continuous_action"
            " or ddpg_continuous_action",
        }.get(space["type"])
        raise WorkerError(
            f"{self.algo} needs {kind} actions, and those of {self.args.env_id} are"
            f" {envs.single_action_space}.",
            remedy=f"Choose {fitting} for it." if fitting else "Choose another environment.",
        )

    def first_observations(self, envs: SameStepVector) -> Any:
        """Of a new training by its seed; of a resumed one where the checkpoint left them."""
        resumed = self.resumed
        if resumed is None:
            return envs.reset(seed=self.args.seed)[0]
        positions = [Position(**each) for each in resumed.environments]
        self.came_back = envs.restore(positions)
        if self.came_back:
            observations = envs.observations.copy()
        else:
            self.say("warning", "The environments could not be brought back: new episodes begin.")
            observations = envs.reset(seed=self.args.seed + self.first_step)[0]
        set_random_state(resumed.random)
        return observations

    # News.

    def sps(self, step: int) -> int:
        """Steps per second since the training began, or went on."""
        return int((step - self.first_step) / max(time.monotonic() - self._started, 1e-9))

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Numbers for curves, under TensorBoard's tags. A loss that is no number ends the run."""
        values = {name: float(value) for name, value in values.items()}
        for name, value in values.items():
            if name.startswith("losses/") and not math.isfinite(value):
                raise WorkerError(
                    f"At step {step} `{name}` is {value}.", remedy=self._keeper.remedy()
                )
        self._outlet.scalars(values, step)
        self._trackers.scalars(values, step)

    def episodes(
        self, infos: Mapping[str, Any], terminated: Any, truncated: Any, step: int
    ) -> None:
        """Tell of the episodes that ended with the last step; for most steps there is none."""
        if not infos:
            return
        episode = infos["final_info"]["episode"]
        for index in np.flatnonzero(episode["_r"]):
            finished = FinishedEpisode(
                int(index),
                float(episode["r"][index]),
                int(episode["l"][index]),
                bool(terminated[index]),
                bool(truncated[index]),
            )
            self._episodes += 1
            self._returns.append(finished.episode_return)
            self._outlet.episode(finished, step)
            values = {
                "charts/episodic_return": finished.episode_return,
                "charts/episodic_length": float(finished.length),
            }
            self._outlet.scalars(values, step)
            self._trackers.scalars(values, step)

    def say(self, level: str, message: str) -> None:
        """Words for people: level is info or warning."""
        self._outlet.say(level, message)

    # Going on, and ending.

    @property
    def should_stop(self) -> bool:
        """Whether it is asked to end: a rollout that takes seconds is better left in its middle."""
        return self._outlet.should_stop

    def go_on(self, step: int, state: State) -> bool:
        """Between two updates: pauses, saves, tells how far it is. False: leave the loop.

        Costs next to nothing when nothing is to be done.
        """
        most = self._plan.max_episodes
        if most is not None and self._episodes >= most:
            return False
        if step < self._look_at and not self._outlet.wants_attention:
            return True
        now = time.monotonic()
        pace = (step - self._looked_at) / max(now - self._looked, 1e-6)
        self._looked, self._looked_at = now, step
        self._look_at = step + max(1, int(pace * _LOOK_SECONDS))
        self._outlet.wait_while_paused()
        # A pause is no part of the time that the speed is told for.
        self._started += time.monotonic() - now
        due = self._keeper.next_step
        if (due is not None and step >= due) or self._outlet.is_told_to_save():
            self.save(step, state)
        if self._keeper.next_step is not None:
            self._look_at = min(self._look_at, self._keeper.next_step)
        if now - self._told >= _PROGRESS_SECONDS:
            self._told = now
            self._tell_progress(step)
        return not self._outlet.should_stop

    def moment(self, step: int) -> Moment:
        """What a checkpoint of now would hold besides the learner's own state.

        For learners that may have to leave a rollout in its middle: they finish with the moment at
        which it began.
        """
        positions = [] if self._envs is None else self._envs.positions()
        return Moment(step, random_state(), [each._asdict() for each in positions])

    def save(self, step: int, state: State, moment: Moment | None = None) -> None:
        """Write a checkpoint of now, or of a moment before."""
        envs = self._envs
        moment = moment or self.moment(step)
        step = moment.step
        if envs is None or step == self._has_saved_at:
            return
        self._has_saved_at = step
        parts = state()
        checkpoint = Checkpoint(
            algo=self.algo,
            args=dataclasses.asdict(self.args),
            env_id=self.args.env_id,
            env_kwargs=self._env_kwargs,
            global_step=step,
            observation_space=describe_space(envs.single_observation_space),
            action_space=describe_space(envs.single_action_space),
            policy=parts["policy"],
            normalization=parts.get("normalization", {}),
            training=parts.get("training", {}),
            random=moment.random,
            environments=moment.environments,
            returns=list(self._returns),
            episodes=self._episodes,
        )
        self._keeper.save(checkpoint)

    def may_save_buffer(self, size_bytes: int) -> bool:
        """Whether a replay buffer of that size becomes part of a checkpoint."""
        return size_bytes <= self.args.checkpoint_buffer_mb << 20

    def finish(self, step: int, state: State, moment: Moment | None = None) -> None:
        """The loop is over, by itself or because it was told to; see `moment`."""
        self._tell_progress(step)
        if self.args.save_model or self._outlet.should_stop:
            self.save(step, state, moment)
        self._trackers.finish()

    def close(self) -> None:
        """Whatever happened."""
        if self._envs is not None:
            self._envs.close()
        self._trackers.close()
        self._outlet.close()

    def _tell_progress(self, step: int) -> None:
        total = self.args.total_timesteps
        pace = (step - self.first_step) / max(time.monotonic() - self._started, 1e-9)
        self._outlet.progress(step, total, round(max(0, total - step) / pace, 1) if pace else None)

    def _on_made(self, env: Any, index: int) -> Any:
        env = self._outlet.on_made(env, index)
        return self._trackers.film(env) if index == 0 and self.args.capture_video else env
