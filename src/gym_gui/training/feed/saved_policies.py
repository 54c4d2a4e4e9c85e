"""The policies that runs have saved. `TrainedPolicies` fetches them on a thread."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from mosaic.client import TrainerClient
    from mosaic.contract.storage import CheckpointRecord

_MAX_POLICIES = 2_000
"""Limit of the list; it includes the newest."""
_ALIASES = ("best", "last")
"""File names of copies: the same policy is also saved under its step."""


@dataclass(frozen=True, slots=True)
class SavedPolicy:
    """A policy at one step of a run, or an imported one."""

    id: str
    run_id: str
    """Empty for an imported policy."""
    file: str
    step: int | None
    mean_return: float | None
    saved_at: float
    size_bytes: int
    is_best: bool = False
    is_last: bool = False


def fetch_policies(
    client: "TrainerClient", worker: str, algo: str, env_id: str
) -> tuple[SavedPolicy, ...]:
    """Fetch the policies of an agent and an environment, newest first. Blocking."""
    checkpoints = client.checkpoints(worker=worker, algo=algo, env_id=env_id)
    return merge_checkpoints(islice(checkpoints, _MAX_POLICIES))


def merge_checkpoints(checkpoints: "Iterable[CheckpointRecord]") -> tuple[SavedPolicy, ...]:
    """Merge checkpoints that are copies of the same policy under several names."""
    policies: dict[tuple[str, int | str], SavedPolicy] = {}
    for checkpoint in checkpoints:
        policy = _to_policy(checkpoint)
        name = PurePosixPath(policy.file).stem
        key = (policy.run_id or policy.id, policy.file if policy.step is None else policy.step)
        known = policies.get(key)
        # Prefer the name with the step: `best` and `last` will be overwritten.
        preferred = policy if known is None or name not in _ALIASES else known
        policies[key] = replace(
            preferred,
            is_best=name == "best" or (known is not None and known.is_best),
            is_last=name == "last" or (known is not None and known.is_last),
        )
    return tuple(policies.values())


def _to_policy(checkpoint: "CheckpointRecord") -> SavedPolicy:
    meta = _decode_meta(checkpoint.meta_json)
    step, metrics = meta.get("step"), meta.get("metrics")
    mean = metrics.get("episodic_return") if isinstance(metrics, dict) else None
    return SavedPolicy(
        id=checkpoint.checkpoint_id,
        run_id=checkpoint.run_id,
        file=PurePosixPath(checkpoint.path).name,
        step=step if isinstance(step, int) else None,
        mean_return=float(mean) if isinstance(mean, int | float) else None,
        saved_at=checkpoint.t,
        size_bytes=checkpoint.size_bytes,
    )


def _decode_meta(meta_json: bytes) -> dict[str, Any]:
    try:
        meta = msgspec.json.decode(meta_json)
    except msgspec.DecodeError:
        return {}
    return meta if isinstance(meta, dict) else {}
