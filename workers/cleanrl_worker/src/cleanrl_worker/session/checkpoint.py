"""Checkpoint files: a policy with everything that is needed to act and to resume its training.

A file contains only tensors, numbers, strings, lists and dicts, so that
`torch.load(path, weights_only=True)` can load it.

| key | content |
|---|---|
| `format`, `algo`, `args`, `env_id`, `env_kwargs`, `global_step` | settings and progress |
| `observation_space`, `action_space` | the learner's spaces, as the SDK describes them |
| `policy` | the tensors of the acting network |
| `normalization` | observation statistics, if observations are normalized |
| `training` | the learner's own optimizers, counters and buffers |
| `random`, `environments` | random generators and the position of each environment |
| `returns`, `episodes` | returns of the last hundred episodes; number of all episodes |
| `best_return` | the highest mean of a hundred returns |
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from cleanrl_worker.learner_catalog import learner_names
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

    from cleanrl_worker.arguments import SessionOptions, SharedArgs

FORMAT = 1
_STATE_ARGS = ("env_id", "num_envs", "buffer_size", "n_step", "n_atoms", "v_min", "v_max")
"""Flags that must be unchanged on resume, because the training state depends on them."""


@dataclass(frozen=True)
class TrainingCheckpoint:
    """The content of a checkpoint file."""

    algo: str
    args: dict[str, Any]
    env_id: str
    env_kwargs: dict[str, Any]
    global_step: int
    observation_space: dict[str, Any]
    action_space: dict[str, Any]
    policy: dict[str, Any]
    normalization: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    random: dict[str, Any] = field(default_factory=dict)
    environments: list[Any] = field(default_factory=list)
    returns: list[float] = field(default_factory=list)
    episodes: int = 0
    best_return: float | None = None

    @property
    def mean_return(self) -> float | None:
        """The mean of the last hundred episodes before the checkpoint."""
        return sum(self.returns) / len(self.returns) if self.returns else None


class StartingPoint(NamedTuple):
    """`resumed` is the checkpoint to continue; `warm_start` the one that provides the network.

    Both are the same if a training is resumed.
    """

    resumed: TrainingCheckpoint | None = None
    warm_start: TrainingCheckpoint | None = None
    message: str = ""


def write_checkpoint(checkpoint: TrainingCheckpoint, path: Path) -> None:
    document = {"format": FORMAT, **vars(checkpoint)}
    torch.save(_to_storable(document), path)


def read_checkpoint(path: Path) -> TrainingCheckpoint:
    """Load to the CPU, regardless of the training device. Raises `WorkerError`."""
    try:
        document = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise WorkerError(
            f"There is no checkpoint {path}.", remedy="Choose one of `mosaic checkpoints list`."
        ) from error
    except Exception as error:
        # torch's reader raises any kind of exception for bytes that are not a checkpoint.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise WorkerError(
            f"The checkpoint {path.name} cannot be read: {reason}",
            remedy="It is damaged or was written by another program; choose another one.",
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WorkerError(
            f"{path.name} is not a checkpoint of this worker.",
            remedy="Choose one that `cleanrl_worker` has saved.",
        )
    known = {entry.name: entry for entry in fields(TrainingCheckpoint)}
    missing = [
        name
        for name, entry in known.items()
        if entry.default is MISSING and entry.default_factory is MISSING and name not in document
    ]
    if missing or document["algo"] not in learner_names():
        problem = (
            f"`{missing[0]}` is missing" if missing else f"unknown algorithm {document['algo']}"
        )
        raise WorkerError(
            f"The checkpoint {path.name} cannot be used: {problem}.",
            remedy="Choose one that this version of `cleanrl_worker` has saved.",
        )
    return TrainingCheckpoint(**{name: value for name, value in document.items() if name in known})


def read_starting_point(options: SessionOptions, algo: str, args: SharedArgs) -> StartingPoint:
    """Raises `WorkerError` if a checkpoint does not fit this training."""
    if options.resume is not None:
        resumed = _read_for(options.resume, algo)
        _check_resumable(resumed, args, options.resume)
        return StartingPoint(resumed, resumed, f"Resumed from step {resumed.global_step}.")
    if options.warm_start is not None:
        name = options.warm_start.name
        checkpoint = _read_for(options.warm_start, algo)
        return StartingPoint(None, checkpoint, f"Started with the network of {name}.")
    return StartingPoint()


def find_non_finite(policy: dict[str, Any]) -> str:
    """Return the name of a tensor with NaN or infinity; empty if there is none."""
    for name, value in policy.items():
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        if is_float and not torch.isfinite(value).all():
            return name
    return ""


def _check_resumable(resumed: TrainingCheckpoint, args: SharedArgs, path: Path) -> None:
    if not resumed.random:
        raise WorkerError(
            f"{path.name} does not include the training state that resuming requires.",
            remedy="Start a new training with its network: --warm-start.",
        )
    if resumed.global_step >= args.total_timesteps:
        raise WorkerError(
            f"The checkpoint is at step {resumed.global_step}, but total_timesteps is"
            f" {args.total_timesteps}.",
            remedy="Increase --total-timesteps.",
        )
    for name in _STATE_ARGS:
        value, saved = getattr(args, name, None), resumed.args.get(name)
        if value != saved:
            raise WorkerError(
                f"`{name}` must be {saved} as in the resumed training, got {value}.",
                remedy=f"Leave {name} unchanged, or start a new training with its network:"
                " --warm-start.",
            )


def _read_for(path: Path, algo: str) -> TrainingCheckpoint:
    checkpoint = read_checkpoint(path)
    if checkpoint.algo != algo:
        raise WorkerError(
            f"The checkpoint was saved by {checkpoint.algo}, but this training uses {algo}.",
            remedy=f"Train with {checkpoint.algo}, or choose another checkpoint.",
        )
    return checkpoint


def _to_storable(value: Any) -> Any:
    """Copy tensors to the CPU without unused storage, and convert numpy's types."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {
            key if isinstance(key, (int, str)) else str(key): _to_storable(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_to_storable(item) for item in value]
    return value
