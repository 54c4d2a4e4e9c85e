"""Where a training begins: anew, with a network that was trained before, or where one was cut off.

A resumed training is the uninterrupted one only if what shapes its state is as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cleanrl_worker.session.checkpoint_file import read_checkpoint
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.plan import SessionPlan

_SHAPE_THE_STATE = ("env_id", "num_envs", "buffer_size", "n_step", "n_atoms", "v_min", "v_max")


class StartingPoint(NamedTuple):
    """`resumed` is gone on from; `warm` is whose network a training begins with, of both kinds."""

    resumed: Checkpoint | None = None
    warm: Checkpoint | None = None
    words: str = ""


def read_starting_point(plan: SessionPlan, algo: str, args: SharedArgs) -> StartingPoint:
    """Raises `WorkerError` when a checkpoint cannot be used for that."""
    if plan.resume is not None:
        resumed = _read(plan.resume, algo)
        _check_resumable(resumed, args, plan.resume)
        return StartingPoint(resumed, resumed, f"Goes on from step {resumed.global_step}.")
    if plan.warm_start is not None:
        name = plan.warm_start.name
        return StartingPoint(
            None, _read(plan.warm_start, algo), f"Begins with the network of {name}."
        )
    return StartingPoint()


def _check_resumable(resumed: Checkpoint, args: SharedArgs, path: Path) -> None:
    if not resumed.random:
        raise WorkerError(
            f"{path.name} was published without what resuming needs.",
            remedy="Begin a new training with it: --warm-start.",
        )
    if resumed.global_step >= args.total_timesteps:
        raise WorkerError(
            f"The training is at step {resumed.global_step} already, and is to have"
            f" {args.total_timesteps}.",
            remedy="Give a larger --total-timesteps.",
        )
    for name in _SHAPE_THE_STATE:
        now, then = getattr(args, name, None), resumed.args.get(name)
        if now != then:
            raise WorkerError(
                f"The training that is to go on had {name} {then}, and this one has {now}.",
                remedy=f"Leave {name} as it was, or begin a new training with its network:"
                " --warm-start.",
            )


def _read(path: Path, algo: str) -> Checkpoint:
    checkpoint = read_checkpoint(path)
    if checkpoint.algo != algo:
        raise WorkerError(
            f"The checkpoint was made by {checkpoint.algo}, and this is {algo}.",
            remedy=f"Train with {checkpoint.algo}, or choose another checkpoint.",
        )
    return checkpoint
