"""The checkpoint file of a learned table: readable JSON with everything needed to reuse it.

| key | meaning |
|---|---|
| `format`, `version`, `worker_version` | file format |
| `algo`, `parameters`, `seed` | training settings |
| `episodes`, `steps`, `success_rate`, `mean_return` | progress when it was saved |
| `env_id`, `env_kwargs` | environment id and arguments |
| `environment` | properties that define the environment's states |
| `names` | names of states that are numbered by visits |
| `tables`, `tries` | action values, one row per state; visit counts |
| `sha256` | hash of all other keys |
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import MISSING, asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker import __version__

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "mosaic-q-table"
VERSION = 1
_CHOOSE_OTHER = "Choose a checkpoint of spade_bdi_rl_worker: `mosaic checkpoints list`."


@dataclass(frozen=True)
class TableCheckpoint:
    """The content of a checkpoint file; field names are its keys."""

    algo: str
    parameters: dict[str, Any]
    seed: int
    episodes: int
    steps: int
    success_rate: float
    mean_return: float
    env_id: str
    env_kwargs: dict[str, Any]
    environment: dict[str, Any]
    names: list[str] | None
    tables: list[list[list[float]]]
    """The first one defines the policy."""
    tries: list[int]
    """Visit counts of all state-action pairs, row by row."""


def encode_table(checkpoint: TableCheckpoint) -> bytes:
    """Return the content of the checkpoint file."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "worker_version": __version__,
        **asdict(checkpoint),
    }
    return _dump({**document, "sha256": _hash(document)})


def read_table_file(path: Path) -> TableCheckpoint:
    """Read a checkpoint. Raises `WorkerError` if the file is invalid."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise WorkerError(
            f"There is no checkpoint {path}.", remedy="Choose one of `mosaic checkpoints list`."
        ) from None
    except (OSError, ValueError, RecursionError):
        raise WorkerError(
            f"The checkpoint {path.name} cannot be read: it is not a table of this worker.",
            remedy=_CHOOSE_OTHER,
        ) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WorkerError(f"{path.name} is not a checkpoint of this worker.", remedy=_CHOOSE_OTHER)
    if document.get("version") != VERSION:
        raise WorkerError(
            f"{path.name} was saved by another version of this worker"
            f" ({document.get('worker_version')}).",
            remedy="Train it again, or use that version.",
        )
    expected = document.pop("sha256", None)
    if expected != _hash(document):
        raise WorkerError(
            f"The checkpoint {path.name} is damaged: its hash does not match.",
            remedy="Choose an older one, or train again.",
        )
    return _make_checkpoint(document, path.name)


def _make_checkpoint(document: dict[str, Any], name: str) -> TableCheckpoint:
    known = [field.name for field in fields(TableCheckpoint) if field.default is MISSING]
    missing = [field for field in known if field not in document]
    if missing:
        raise WorkerError(f"The checkpoint {name} has no '{missing[0]}'.", remedy=_CHOOSE_OTHER)
    checkpoint = TableCheckpoint(**{field: document[field] for field in known})
    for table in checkpoint.tables:
        if any(not math.isfinite(value) for row in table for value in row):
            raise WorkerError(
                f"The checkpoint {name} contains values that are not finite.",
                remedy="Train with a smaller learning rate.",
            )
    return checkpoint


def _hash(document: dict[str, Any]) -> str:
    return hashlib.sha256(_dump(document)).hexdigest()


def _dump(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("utf-8")
