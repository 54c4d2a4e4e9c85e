"""TrainingSession: the infrastructure of a learner, whose file then contains only the algorithm.

A learner creates its environments with `make_envs`, starts from `initial_observations`, reports
with `log_scalars` and `log_episodes`, calls `on_iteration` between two updates, and ends with
`finish`.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cleanrl_worker.arguments import script_options
from cleanrl_worker.environments.env_slot import EnvPosition
from cleanrl_worker.environments.make_env import flatten_observation, make_vector_env
from cleanrl_worker.session.checkpoint import TrainingCheckpoint, read_starting_point
from cleanrl_worker.session.checkpoint_manager import CheckpointManager
from cleanrl_worker.session.sink import FinishedEpisode
from cleanrl_worker.session.torch_runtime import (
    choose_device,
    get_random_state,
    seed_all,
    set_random_state,
    set_threads,
)
from cleanrl_worker.tracking.trackers import SessionTrackers
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.errors import WorkerError
from mosaic_worker.tracking.settings import make_run_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import torch

    from cleanrl_worker.arguments import SessionOptions, SharedArgs
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.session.sink import RunSink

    GetState = Callable[[], dict[str, Any]]
    """Returns `policy` and `training`, and `normalization` if there is one; see `checkpoint`."""

_CHECK_INTERVAL_S = 0.05
_PROGRESS_INTERVAL_S = 1.0
_RECENT_EPISODES = 100


class SessionSnapshot(NamedTuple):
    """The state of everything but the learner at a step."""

    step: int
    random: dict[str, Any]
    environments: list[dict[str, Any]]


class TrainingSession:
    """One training, from its first step or from a checkpoint to its end."""

    device: torch.device

    def __init__(
        self,
        algo: str,
        args: SharedArgs,
        sink: RunSink,
        options: SessionOptions | None = None,
        *,
        is_large: bool = False,
    ) -> None:
        """`is_large`: the networks benefit from several CPUs. Raises `WorkerError`."""
        self.algo = algo
        self.args = args
        self._sink = sink
        self._options = options or script_options(args, len(os.sched_getaffinity(0)))
        self.run_name = make_run_name(args.env_id, args.exp_name or algo, args.seed)
        self.threads = set_threads(args, self._options.cpus, is_large=is_large)
        self.device = choose_device(args, self._options.gpus)
        seed_all(args.seed)
        start = read_starting_point(self._options, algo, args)
        if start.message:
            self.log_message("info", start.message)
        self.resumed = start.resumed
        """The checkpoint of a resumed training: the learner restores its `training`."""
        self.warm_start = start.warm_start
        """The checkpoint whose policy the training starts with; equals `resumed` if resumed."""
        self.has_restored_envs = True
        """Whether a resumed training continues its episodes."""
        self.first_step = self.resumed.global_step if self.resumed else 0
        self._checkpoints = CheckpointManager(
            sink, every=args.checkpoint_every, keep=self._options.keep_checkpoints
        )
        self._checkpoints.start_at(self.first_step)
        if self.resumed:
            self._checkpoints.best_return = self.resumed.best_return
        self._trackers = SessionTrackers(sink, self._options, args, algo, self.run_name)
        resumed = self.resumed
        self._returns: deque[float] = deque(resumed.returns if resumed else (), _RECENT_EPISODES)
        self._episodes = resumed.episodes if resumed else 0
        self._envs: SameStepVector | None = None
        self._env_kwargs = self._options.env_kwargs
        self._started = self._checked = self._reported = time.monotonic()
        self._next_check_step = self._checked_step = self.first_step
        self._saved_step: int | None = None

    # Environments.

    def make_envs(
        self,
        wrap: Callable[[Any], Any] = flatten_observation,
        *,
        default_kwargs: Mapping[str, Any] | None = None,
        reports_every_end: bool = True,
    ) -> SameStepVector:
        """Make the training environments; the run's `env_kwargs` override `default_kwargs`.

        Raises `WorkerError`.
        """
        self._env_kwargs = {**(default_kwargs or {}), **self._options.env_kwargs}
        self._envs = make_vector_env(
            self.args.env_id,
            self._env_kwargs,
            self.args.num_envs,
            wrap,
            on_made=self._on_made,
            renders_first=self.args.capture_video or self._sink.renders_first_env,
            reports_every_end=reports_every_end,
        )
        return self._envs

    def require_action_space(self, envs: SameStepVector, kind: str) -> None:
        """`kind` is `discrete` or `box`. Raises `WorkerError` for any other action space."""
        space = describe_space(envs.single_action_space)
        if space["type"] == kind:
            return
        suitable = {
            "discrete": "ppo, dqn, c51, rainbow, pqn or sac",
            "box": "ppo_continuous_action, sac_continuous_action, td3_continuous_action"
            " or ddpg_continuous_action",
        }.get(space["type"])
        raise WorkerError(
            f"{self.algo} needs {kind} actions, but the action space of {self.args.env_id} is"
            f" {envs.single_action_space}.",
            remedy=f"Choose {suitable} for it." if suitable else "Choose another environment.",
        )

    def initial_observations(self, envs: SameStepVector) -> Any:
        """Reset the environments, or restore those of the checkpoint and its random state.

        Call it last before the training loop.
        """
        resumed = self.resumed
        if resumed is None:
            return envs.reset(seed=self.args.seed)[0]
        positions = [EnvPosition(**position) for position in resumed.environments]
        self.has_restored_envs = envs.restore(positions)
        if self.has_restored_envs:
            observations = envs.observations.copy()
        else:
            self.log_message(
                "warning", "The environments could not be restored: new episodes start."
            )
            observations = envs.reset(seed=self.args.seed + self.first_step)[0]
        set_random_state(resumed.random)
        return observations

    # Reporting.

    def sps(self, step: int) -> int:
        """Return the steps per second since the start of this process."""
        return int((step - self.first_step) / max(time.monotonic() - self._started, 1e-9))

    def log_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Log metrics under TensorBoard tags. Raises `WorkerError` if a loss is not finite."""
        values = {name: float(value) for name, value in values.items()}
        for name, value in values.items():
            if name.startswith("losses/") and not math.isfinite(value):
                raise WorkerError(
                    f"At step {step} `{name}` is {value}.", remedy=self._checkpoints.remedy()
                )
        self._sink.log_scalars(values, step)
        self._trackers.scalars(values, step)

    def log_episodes(
        self, infos: Mapping[str, Any], terminated: Any, truncated: Any, step: int
    ) -> None:
        """Log the episodes that ended with the last step; `infos` is empty for most steps."""
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
            self._sink.log_episode(finished, step)
            values = {
                "charts/episodic_return": finished.episode_return,
                "charts/episodic_length": float(finished.length),
            }
            self._sink.log_scalars(values, step)
            self._trackers.scalars(values, step)

    def log_message(self, level: str, message: str) -> None:
        """Log a message; `level` is info or warning."""
        self._sink.log_message(level, message)

    # Continuing and finishing.

    @property
    def should_stop(self) -> bool:
        """Whether a stop was requested; a rollout of several seconds should check it."""
        return self._sink.should_stop

    def on_iteration(self, step: int, get_state: GetState) -> bool:
        """Pause, save and report progress if due. Returns False if the loop must end.

        Cheap if nothing is due.
        """
        max_episodes = self._options.max_episodes
        if max_episodes is not None and self._episodes >= max_episodes:
            return False
        if step < self._next_check_step and not self._sink.needs_attention:
            return True
        now = time.monotonic()
        steps_per_s = (step - self._checked_step) / max(now - self._checked, 1e-6)
        self._checked, self._checked_step = now, step
        self._next_check_step = step + max(1, int(steps_per_s * _CHECK_INTERVAL_S))
        self._sink.wait_while_paused()
        # Exclude pauses from the steps per second.
        self._started += time.monotonic() - now
        due = self._checkpoints.next_step
        if (due is not None and step >= due) or self._sink.is_save_requested():
            self.save(step, get_state)
        if self._checkpoints.next_step is not None:
            self._next_check_step = min(self._next_check_step, self._checkpoints.next_step)
        if now - self._reported >= _PROGRESS_INTERVAL_S:
            self._reported = now
            self._report_progress(step)
        return not self._sink.should_stop

    def snapshot(self, step: int) -> SessionSnapshot:
        """Return what a checkpoint of `step` holds besides the learner's own state.

        A learner that abandons a rollout passes the snapshot of its start to `finish`.
        """
        positions = [] if self._envs is None else self._envs.positions()
        environments = [position._asdict() for position in positions]
        return SessionSnapshot(step, get_random_state(), environments)

    def save(self, step: int, get_state: GetState, snapshot: SessionSnapshot | None = None) -> None:
        """Write a checkpoint of the current state, or of an earlier snapshot."""
        envs = self._envs
        snapshot = snapshot or self.snapshot(step)
        step = snapshot.step
        if envs is None or step == self._saved_step:
            return
        self._saved_step = step
        state = get_state()
        checkpoint = TrainingCheckpoint(
            algo=self.algo,
            args=dataclasses.asdict(self.args),
            env_id=self.args.env_id,
            env_kwargs=self._env_kwargs,
            global_step=step,
            observation_space=describe_space(envs.single_observation_space),
            action_space=describe_space(envs.single_action_space),
            policy=state["policy"],
            normalization=state.get("normalization", {}),
            training=state.get("training", {}),
            random=snapshot.random,
            environments=snapshot.environments,
            returns=list(self._returns),
            episodes=self._episodes,
        )
        self._checkpoints.save(checkpoint)

    def can_save_buffer(self, size_bytes: int) -> bool:
        """Whether a replay buffer of that size fits into a checkpoint."""
        return size_bytes <= self.args.checkpoint_buffer_mb << 20

    def finish(
        self, step: int, get_state: GetState, snapshot: SessionSnapshot | None = None
    ) -> None:
        """Save and close the trackers after the last step, or after a stop; see `snapshot`."""
        self._report_progress(step)
        if self.args.save_model or self._sink.should_stop:
            self.save(step, get_state, snapshot)
        self._trackers.finish()

    def close(self) -> None:
        """Release all resources; call it also after an error."""
        if self._envs is not None:
            self._envs.close()
        self._trackers.close()
        self._sink.close()

    def _report_progress(self, step: int) -> None:
        total = self.args.total_timesteps
        steps_per_s = (step - self.first_step) / max(time.monotonic() - self._started, 1e-9)
        eta_s = round(max(0, total - step) / steps_per_s, 1) if steps_per_s else None
        self._sink.report_progress(step, total, eta_s)

    def _on_made(self, env: Any, index: int) -> Any:
        env = self._sink.wrap_env(env, index)
        return self._trackers.record_video(env) if index == 0 and self.args.capture_video else env
