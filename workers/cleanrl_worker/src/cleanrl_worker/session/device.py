"""Where a learner computes: the processor, or a GPU that was reserved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from cleanrl_worker.arguments import SharedArgs


def choose_device(args: SharedArgs, gpus: int | None) -> torch.device:
    """`gpus` is what the run has reserved; None: a script, which takes one when there is one."""
    wants = args.cuda if gpus is None else gpus > 0
    if gpus and not torch.cuda.is_available():
        raise WorkerError(
            "The run has reserved a GPU, but torch sees none.",
            remedy="Run it without GPUs (--gpus 0), or install a build of torch for your GPU in the"
            " worker's bundle; the README says how.",
        )
    torch.backends.cudnn.deterministic = args.torch_deterministic
    return torch.device("cuda" if wants and torch.cuda.is_available() else "cpu")


def set_threads(args: SharedArgs, processors: int, *, is_large: bool) -> int:
    """Small networks are several times slower on two busy processors than on one."""
    threads = args.torch_threads or (processors if is_large else 1)
    torch.set_num_threads(threads)
    return threads
