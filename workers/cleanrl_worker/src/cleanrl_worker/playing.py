"""The worker's `play` and `evaluate` modes: a checkpoint's policy as an actor of the play loop."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from mosaic_worker.errors import WorkerError
from mosaic_worker.play import play

if TYPE_CHECKING:
    from mosaic_worker import Run
    from mosaic_worker.play import Actor

MAX_LISTED_STATES = 2_000
"""The policy of all states is reported for at most this number of states."""


class Policy(Protocol):
    """The result of a learner's `load_policy`; maps a wrapped observation to an action.

    An optional `begin_episode()` is called before the first action of an episode. A policy of
    discrete actions may have `action_values(observations)`, which returns a row of Q values for
    each row of observations, or `best_actions(observations)`; neither changes its state.
    """

    def act(self, observation: Any) -> Any:
        """Return an action of the environment's action space; discrete actions start at 0."""


class PolicyActor:
    """Acts with a policy in the SDK's play loop."""

    def __init__(self, policy: Policy, first_action: int = 0, all_observations: Any = None) -> None:
        """`first_action` is the start of the environment's discrete action space.

        `all_observations` has a row for each state, if all states can be listed.
        """
        self._policy = policy
        self._first_action = first_action
        self._all_observations = all_observations
        self._policy_of_states: dict[str, Any] | None = None

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:  # noqa: ARG002
        begin = getattr(self._policy, "begin_episode", None)
        if begin is not None:
            begin()

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002
        action = self._policy.act(observation)
        return action + self._first_action if self._first_action else action

    def policy(self) -> dict[str, Any] | None:
        """Return the greedy action of every state, for views; None if states cannot be listed."""
        if self._all_observations is not None and self._policy_of_states is None:
            self._policy_of_states = self._compute_policy()  # once: the policy does not change
        return self._policy_of_states

    def _compute_policy(self) -> dict[str, Any] | None:
        action_values = getattr(self._policy, "action_values", None)
        best_actions = getattr(self._policy, "best_actions", None)
        if action_values is not None:
            q_values = action_values(self._all_observations)
            best = q_values.argmax(axis=1)
            return {"actions": best + self._first_action, "q_values": q_values}
        if best_actions is not None:
            return {"actions": best_actions(self._all_observations) + self._first_action}
        return None


def play_checkpoint(run: Run) -> None:
    """Raises `WorkerError` if the run has no checkpoint or it does not fit the environment."""
    if run.checkpoint is None:
        raise WorkerError(
            "Playing a policy requires a checkpoint.",
            remedy="Choose one of `mosaic checkpoints list`.",
        )
    from cleanrl_worker.session.checkpoint import read_checkpoint  # noqa: PLC0415 - torch
    from cleanrl_worker.session.torch_runtime import seed_all  # noqa: PLC0415

    checkpoint = read_checkpoint(run.checkpoint)
    seed_all(run.config.seed)
    if checkpoint.env_kwargs and not run.config.env_kwargs:
        # An imported checkpoint includes the arguments of its environment.
        run.config = run.config._replace(env_kwargs=checkpoint.env_kwargs)
    learner: Any = importlib.import_module(f"cleanrl_worker.learners.{checkpoint.algo}")

    def make_actor(env: Any) -> Actor:
        _check_spaces(checkpoint, env)
        sampled = bool(run.config.params.get("sampled_actions"))
        policy = learner.load_policy(checkpoint, sampled=sampled)
        first_action = int(getattr(env.action_space, "start", 0))
        return PolicyActor(policy, first_action, list_observations(env))

    play(run, make_actor, wrap=learner.wrap_for_playing)


def list_observations(env: Any) -> Any:
    """Return a row for each state as the learner observes it; None if there are too many."""
    from gymnasium import spaces  # noqa: PLC0415 - slow to import
    from gymnasium.spaces import utils  # noqa: PLC0415

    space = env.unwrapped.observation_space
    if not isinstance(space, spaces.Discrete) or space.n > MAX_LISTED_STATES:
        return None
    if env.observation_space != utils.flatten_space(space):
        return None  # wrappers change the observations
    import numpy as np  # noqa: PLC0415

    return np.eye(int(space.n), dtype=np.float32)


def _check_spaces(checkpoint: Any, env: Any) -> None:
    from mosaic_worker.environments.spaces import describe_space  # noqa: PLC0415 - gymnasium

    for name in ("observation_space", "action_space"):
        actual, trained = describe_space(getattr(env, name)), getattr(checkpoint, name)
        if _shape(actual) != _shape(trained):
            raise WorkerError(
                f"The policy was trained in {checkpoint.env_id}, whose {name.replace('_', ' ')} is"
                f" {_format_space(trained)}; here it is {_format_space(actual)}.",
                remedy=f"Play it in {checkpoint.env_id}, or choose another checkpoint.",
            )


def _shape(space: dict[str, Any]) -> tuple[Any, ...]:
    return (space.get("type"), space.get("n"), tuple(space.get("shape") or ()))


def _format_space(space: dict[str, Any]) -> str:
    size = space.get("n") or "x".join(str(side) for side in space.get("shape") or ())
    return f"{space.get('type')} of {size}"
