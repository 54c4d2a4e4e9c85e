"""PolicyShelf: the policies that runs have saved, asked of the daemon on a thread.

Called by `training.model.training_policies`, which keeps the newest answer.
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

_MOST = 2_000
"""More than anybody looks through here; the newest are among them."""
_NAMES_OF_OTHERS = ("best", "last")
"""Files that are another name for one that is listed too."""


@dataclass(frozen=True, slots=True)
class SavedPolicy:
    """One moment of one run."""

    id: str
    run_id: str
    """Empty: it was imported."""
    file: str
    step: int | None
    mean_return: float | None
    saved_at: float
    size_bytes: int
    is_best: bool = False
    is_last: bool = False


class PolicyShelf:
    """Nothing is kept: each question sees what has changed."""

    def __init__(self, link: TrainerLink, tasks: Tasks) -> None:
        self._link = link
        self._tasks = tasks

    @property
    def can_query(self) -> bool:
        return self._link.has_client

    def ask(
        self,
        parent: QObject,
        worker: str,
        algo: str,
        env_id: str,
        on_success: Callable[[tuple[SavedPolicy, ...]], None],
        on_failure: Callable[[UserError], None],
    ) -> None:
        """Those of an agent and an environment, the newest first."""
        client = self._link.client

        def fetch() -> tuple[SavedPolicy, ...]:
            found = client.checkpoints(worker=worker, algo=algo, env_id=env_id)
            return policies_in(islice(found, _MOST))

        self._tasks.run(parent, fetch, on_success, on_failure)


def policies_in(checkpoints: "Iterable[CheckpointRecord]") -> tuple[SavedPolicy, ...]:
    """What was saved under several names is one policy."""
    policies: dict[tuple[str, int | str], SavedPolicy] = {}
    for checkpoint in checkpoints:
        policy = _policy(checkpoint)
        name = PurePosixPath(policy.file).stem
        key = (policy.run_id or policy.id, policy.file if policy.step is None else policy.step)
        known = policies.get(key)
        # Its own name stays when another checkpoint becomes the best or the last one.
        kept = policy if known is None or name not in _NAMES_OF_OTHERS else known
        policies[key] = replace(
            kept,
            is_best=name == "best" or (known is not None and known.is_best),
            is_last=name == "last" or (known is not None and known.is_last),
        )
    return tuple(policies.values())


def _policy(checkpoint: "CheckpointRecord") -> SavedPolicy:
    meta = _told(checkpoint.meta_json)
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


def _told(meta_json: bytes) -> dict[str, Any]:
    try:
        told = msgspec.json.decode(meta_json)
    except msgspec.DecodeError:
        return {}
    return told if isinstance(told, dict) else {}
