"""Rollout storage of on-policy learners, and generalized advantage estimation (GAE).

Arrays are [steps, environments, ...]. The rollout also keeps the final observations of truncated
episodes: their value is added to the last reward, because a time limit does not end the task.

Schulman et al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation", 2015.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.session.training_session import TrainingSession


def compute_gae(rewards: Any, values: Any, dones: Any, *, gamma: float, gae_lambda: float) -> Any:
    """Return the advantages of all steps.

    `values` has one row more than `rewards`: the value of the observation after the last step.
    `dones[t]` is True if the episode ended with step `t`, so that nothing is bootstrapped from the
    next one. The reward of a truncated episode's last step includes the value of its final
    observation.
    """
    not_done = 1.0 - dones.astype(np.float32)
    deltas = rewards + gamma * values[1:] * not_done - values[:-1]
    discount = np.float32(gamma * gae_lambda) * not_done
    advantages = np.empty_like(deltas)
    last_gae = np.zeros_like(deltas[0])
    for t in range(len(deltas) - 1, -1, -1):
        last_gae = deltas[t] + discount[t] * last_gae
        advantages[t] = last_gae
    return advantages


class Rollout:
    """Arrays [steps, environments, ...] that are overwritten by each iteration."""

    def __init__(
        self,
        num_steps: int,
        num_envs: int,
        *,
        observation: tuple[tuple[int, ...], Any],
        action: tuple[tuple[int, ...], Any],
    ) -> None:
        """`observation` and `action` are (shape, dtype)."""
        size = (num_steps, num_envs)
        self.observations = np.zeros((num_steps + 1, num_envs, *observation[0]), observation[1])
        """One row more than the others: the first observations of the next rollout."""
        self.actions = np.zeros((*size, *action[0]), action[1])
        self.rewards = np.zeros(size, np.float32)
        self.dones = np.zeros(size, np.bool_)
        """Whether an episode ended with the step."""
        self._truncations: list[tuple[int, int, Any]] = []

    def add(
        self,
        t: int,
        rewards: Any,
        terminated: Any,
        truncated: Any,
        infos: dict[str, Any],
    ) -> None:
        """Store step `t` as `SameStepVector.step` returned it, except the observations."""
        if t == 0:
            self._truncations.clear()
        self.rewards[t] = rewards
        np.logical_or(terminated, truncated, out=self.dones[t])
        if infos:
            for index in np.flatnonzero(truncated & ~terminated):
                self._truncations.append((t, int(index), infos["final_obs"][index]))

    def compute_gae(
        self,
        get_value: Callable[[Any], Any],
        *,
        gamma: float,
        gae_lambda: float,
        values: Any = None,
        preprocess: Callable[[Any], Any] | None = None,
    ) -> tuple[Any, Any, Any]:
        """Return the advantages, returns and values of all steps.

        `get_value` maps observations [rows, ...] to values [rows]. Pass `values` of all
        observations if they are known already. `preprocess` converts final observations from the
        environment's form to the form of `observations`.
        """
        if values is None:
            count, num_envs, *shape = self.observations.shape
            flat = self.observations.reshape(count * num_envs, *shape)
            values = get_value(flat).reshape(count, num_envs)
        rewards = self.rewards
        if self._truncations:
            rewards = rewards.copy()
            steps, indices, final_obs = zip(*self._truncations, strict=True)
            batch = np.stack(final_obs)
            batch = (preprocess(batch) if preprocess else batch).astype(self.observations.dtype)
            rewards[list(steps), list(indices)] += gamma * get_value(batch)
        advantages = compute_gae(rewards, values, self.dones, gamma=gamma, gae_lambda=gae_lambda)
        return advantages, advantages + values[:-1], values[:-1]


class RolloutArgs(Protocol):
    """The flags that decide the size of rollouts and minibatches."""

    total_timesteps: int
    num_envs: int
    num_steps: int
    num_minibatches: int


def validate_rollout_size(args: RolloutArgs, session: TrainingSession) -> None:
    """Shorten a rollout that is longer than the training, with a log message.

    Raises `WorkerError` if a minibatch would have fewer than two steps: advantages could not be
    normalized.
    """
    max_num_steps = max(1, args.total_timesteps // args.num_envs)
    if args.num_steps > max_num_steps:
        session.log_message(
            "info",
            f"`num_steps` reduced from {args.num_steps} to {max_num_steps}, because the training"
            f" has only {args.total_timesteps} steps.",
        )
        args.num_steps = max_num_steps
    batch_size = args.num_envs * args.num_steps
    if batch_size < 2 * args.num_minibatches:
        raise WorkerError(
            f"{batch_size} steps ({args.num_envs} environments x {args.num_steps} steps) cannot be"
            f" split into {args.num_minibatches} minibatches of at least two steps.",
            remedy="Decrease num_minibatches, or increase num_steps or num_envs.",
        )
