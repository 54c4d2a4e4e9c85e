"""SavedPolicies: fetches the policies that runs have saved, on a thread.

Called by `training.model.trained_policies`, which keeps the newest result.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import QObject

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
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


class SavedPolicies:
    """Stateless: each call queries the daemon."""

    def __init__(self, link: TrainerLink, tasks: Tasks) -> None:
        self._link = link
        self._tasks = tasks

    @property
    def is_connected(self) -> bool:
        return self._link.has_client

    def fetch(
        self,
        parent: QObject,
        worker: str,
        algo: str,
        env_id: str,
        on_success: Callable[[tuple[SavedPolicy, ...]], None],
        on_failure: Callable[[UserError], None],
    ) -> None:
        """Fetch the policies of an agent and an environment, newest first."""
        client = self._link.client

        def query() -> tuple[SavedPolicy, ...]:
            checkpoints = client.checkpoints(worker=worker, algo=algo, env_id=env_id)
            return merge_checkpoints(islice(checkpoints, _MAX_POLICIES))

        self._tasks.run(parent, query, on_success, on_failure)


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
