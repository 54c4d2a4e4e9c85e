"""The worker's `play` and `evaluate` modes: a policy from a checkpoint, in the SDK's play loop."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cleanrl_worker.playing.policy import PolicyActor
from mosaic_worker.errors import WorkerError
from mosaic_worker.play import play

if TYPE_CHECKING:
    from mosaic_worker import Run
    from mosaic_worker.play import Actor

MOST_STATES_TOLD = 2_000
"""What a policy would do in each state is told where there are no more."""


def play_checkpoint(run: Run) -> None:
    """Raises `WorkerError` when there is no checkpoint, or it does not fit."""
    if run.checkpoint is None:
        raise WorkerError(
            "No checkpoint was named to play with.",
            remedy="Choose one of `mosaic checkpoints list`.",
        )
    from cleanrl_worker.session.checkpoint_file import read_checkpoint  # noqa: PLC0415 - torch
    from cleanrl_worker.session.random_numbers import seed_all  # noqa: PLC0415

    checkpoint = read_checkpoint(run.checkpoint)
    seed_all(run.config.seed)
    if checkpoint.env_kwargs and not run.config.env_kwargs:
        # An imported policy brings along how its environment was made.
        run.config = run.config._replace(env_kwargs=checkpoint.env_kwargs)
    learner: Any = importlib.import_module(f"cleanrl_worker.learners.{checkpoint.algo}")

    def make_actor(env: Any) -> Actor:
        _check_spaces(checkpoint, env)
        sampled = bool(run.config.params.get("sampled_actions"))
        policy = learner.load_policy(checkpoint, sampled=sampled)
        first_action = int(getattr(env.action_space, "start", 0))
        return PolicyActor(policy, first_action, every_observation(env))

    play(run, make_actor, wrap=learner.wrap_for_playing)


def every_observation(env: Any) -> Any:
    """A row for each state as the learner sees it, where there are few; else None."""
    from gymnasium import spaces  # noqa: PLC0415 - slow to import
    from gymnasium.spaces import utils  # noqa: PLC0415

    space = env.unwrapped.observation_space
    if not isinstance(space, spaces.Discrete) or space.n > MOST_STATES_TOLD:
        return None
    if env.observation_space != utils.flatten_space(space):
        return None  # its wrappers show it something else
    import numpy as np  # noqa: PLC0415

    return np.eye(int(space.n), dtype=np.float32)


def _check_spaces(checkpoint: Any, env: Any) -> None:
    from mosaic_worker.environments.spaces import describe_space  # noqa: PLC0415 - gymnasium

    for what in ("observation_space", "action_space"):
        there, known = describe_space(getattr(env, what)), getattr(checkpoint, what)
        if _shape(there) != _shape(known):
            raise WorkerError(
                f"The policy was trained in {checkpoint.env_id}, whose {what.replace('_', ' ')} is"
                f" {_words(known)}; here it is {_words(there)}.",
                remedy=f"Play it in {checkpoint.env_id}, or choose another checkpoint.",
            )


def _shape(space: dict[str, Any]) -> tuple[Any, ...]:
    return (space.get("type"), space.get("n"), tuple(space.get("shape") or ()))


def _words(space: dict[str, Any]) -> str:
    size = space.get("n") or "x".join(str(side) for side in space.get("shape") or ())
    return f"{space.get('type')} of {size}"
