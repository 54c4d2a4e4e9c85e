"""Whether rollouts and minibatches are of sizes that make sense, before anything is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from cleanrl_worker.session.session import Session


class RolloutArgs(Protocol):
    """The flags of a learner that collects steps and then learns from them."""

    total_timesteps: int
    num_envs: int
    num_steps: int
    num_minibatches: int


def fit_rollout(args: RolloutArgs, session: Session) -> None:
    """A rollout longer than the whole training is shortened, which is said.

    Raises `WorkerError` when a minibatch would have fewer than two steps: their advantages could
    not be compared.
    """
    longest = max(1, args.total_timesteps // args.num_envs)
    if args.num_steps > longest:
        session.say(
            "info",
            f"`num_steps` is {longest}, not {args.num_steps}: the training has no more steps.",
        )
        args.num_steps = longest
    steps = args.num_envs * args.num_steps
    if steps < 2 * args.num_minibatches:
        raise WorkerError(
            f"{steps} steps ({args.num_envs} environments, {args.num_steps} steps each) cannot be"
            f" divided into {args.num_minibatches} minibatches of two or more.",
            remedy="Choose fewer num_minibatches, or more num_steps or num_envs.",
        )
