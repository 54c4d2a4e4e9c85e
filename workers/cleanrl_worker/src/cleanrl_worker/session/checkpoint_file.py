"""A checkpoint: a policy with all that is needed to act with it, and to go on training it.

The file is one that `torch.load(path, weights_only=True)` reads: tensors, numbers, texts, lists and
dicts, and no code.

| key | what |
|---|---|
| `format`, `algo`, `args`, `env_id`, `env_kwargs`, `global_step` | what was trained, and how far |
| `observation_space`, `action_space` | as the learner saw them, in the SDK's words |
| `policy` | the tensors of the network that acts |
| `normalization` | how observations were scaled, where they were |
| `training` | optimizers, counters, buffers: the learner's own |
| `random`, `environments` | random numbers, and where each environment was |
| `returns`, `episodes` | of the last hundred episodes; how many there were |
| `best_return` | the highest mean of a hundred so far |
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from cleanrl_worker.learner_catalog import learner_names
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds."""

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
        """Of the last hundred episodes before it was saved."""
        return sum(self.returns) / len(self.returns) if self.returns else None


def write_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    document = {"format": FORMAT, **vars(checkpoint)}
    torch.save(_storable(document), path)


def read_checkpoint(path: Path) -> Checkpoint:
    """On the processor, whatever it was trained on. Raises `WorkerError`."""
    try:
        document = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise WorkerError(
            f"There is no checkpoint {path}.", remedy="Choose one of `mosaic checkpoints list`."
        ) from error
    except Exception as error:
        # Of bytes that are no checkpoint torch's reader makes anything at all.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise WorkerError(
            f"The checkpoint {path.name} cannot be read: {reason}",
            remedy="It is damaged or of another program; choose another one.",
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WorkerError(
            f"{path.name} is no checkpoint of this worker.",
            remedy="Choose one that `cleanrl_worker` has saved.",
        )
    known = {each.name: each for each in fields(Checkpoint)}
    missing = [
        name
        for name, each in known.items()
        if each.default is MISSING and each.default_factory is MISSING and name not in document
    ]
    if missing or document["algo"] not in learner_names():
        what = f"it has no `{missing[0]}`" if missing else f"there is no {document['algo']} here"
        raise WorkerError(
            f"The checkpoint {path.name} cannot be used: {what}.",
            remedy="Choose one that `cleanrl_worker` of this version has saved.",
        )
    return Checkpoint(**{name: value for name, value in document.items() if name in known})


def not_finite(policy: dict[str, Any]) -> str:
    """The name of a tensor that holds NaN or infinity; empty when none does."""
    for name, value in policy.items():
        is_real = isinstance(value, torch.Tensor) and value.is_floating_point()
        if is_real and not torch.isfinite(value).all():
            return name
    return ""


def _storable(value: Any) -> Any:
    """Tensors on the processor and of their own size, and no class that only numpy knows."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {
            key if isinstance(key, (int, str)) else str(key): _storable(each)
            for key, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_storable(each) for each in value]
    return value
