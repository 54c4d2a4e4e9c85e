"""The process-wide state of torch, numpy and Python: device, threads and random generators."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from cleanrl_worker.arguments import SharedArgs


def choose_device(args: SharedArgs, gpus: int | None) -> torch.device:
    """`gpus` is the number of reserved GPUs; None for a script, which uses one if there is one."""
    use_gpu = args.cuda if gpus is None else gpus > 0
    if gpus and not torch.cuda.is_available():
        raise WorkerError(
            "The run has reserved a GPU, but torch cannot find one.",
            remedy="Run without GPUs (--gpus 0), or install a build of torch for your GPU in the"
            " worker's bundle; the README describes how.",
        )
    torch.backends.cudnn.deterministic = args.torch_deterministic
    return torch.device("cuda" if use_gpu and torch.cuda.is_available() else "cpu")


def set_threads(args: SharedArgs, cpus: int, *, is_large: bool) -> int:
    """Set the number of threads and return it; small networks are fastest with one."""
    threads = args.torch_threads or (cpus if is_large else 1)
    torch.set_num_threads(threads)
    return threads


def seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def get_random_state() -> dict[str, Any]:
    """Return the state of all generators in types that a checkpoint can hold."""
    version, internal, gauss = random.getstate()
    kind, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    state = {
        "python": [version, list(internal), gauss],
        "numpy": [str(kind), [int(key) for key in keys], int(position), int(has_gauss), cached],
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_random_state(state: dict[str, Any]) -> None:
    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))
    kind, keys, position, has_gauss, cached = state["numpy"]
    np.random.set_state((kind, np.array(keys, dtype=np.uint32), position, has_gauss, cached))
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
