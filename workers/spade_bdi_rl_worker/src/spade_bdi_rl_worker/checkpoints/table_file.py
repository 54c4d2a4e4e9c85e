"""The file of a learnt table: JSON that a person can read, with all that says what it is of.

| key | what |
|---|---|
| `format`, `version`, `worker_version` | what the file is |
| `algo`, `parameters`, `seed` | how it was learnt |
| `episodes`, `steps`, `success_rate`, `mean_return` | how far |
| `env_id`, `env_kwargs` | where: as it was made |
| `environment` | what makes its states what they are |
| `names` | of states that were numbered as they were met |
| `tables`, `tries` | the values, one row for each state; how often each was tried |
| `sha256` | of all the rest |
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
_OTHER = "Choose one that spade_bdi_rl_worker has saved: `mosaic checkpoints list`."


@dataclass(frozen=True)
class TableCheckpoint:
    """What a file holds."""

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
    """The first is what is acted on."""
    tries: list[int]


def table_bytes(checkpoint: TableCheckpoint) -> bytes:
    """The file's content."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "worker_version": __version__,
        **asdict(checkpoint),
    }
    return _dumped({**document, "sha256": _hash(document)})


def read_table_file(path: Path) -> TableCheckpoint:
    """WorkerError says what is wrong with it."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise WorkerError(
            f"There is no checkpoint {path}.", remedy="Choose one of `mosaic checkpoints list`."
        ) from None
    except (OSError, ValueError, RecursionError):
        raise WorkerError(
            f"The checkpoint {path.name} cannot be read: it is no table of this worker.",
            remedy=_OTHER,
        ) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WorkerError(f"{path.name} is no checkpoint of this worker.", remedy=_OTHER)
    if document.get("version") != VERSION:
        raise WorkerError(
            f"{path.name} was saved by another version of this worker"
            f" ({document.get('worker_version')}).",
            remedy="Train it again, or use that version.",
        )
    said = document.pop("sha256", None)
    if said != _hash(document):
        raise WorkerError(
            f"The checkpoint {path.name} is damaged: its hash is another than it says.",
            remedy="Choose an older one, or train again.",
        )
    return _made_of(document, path.name)


def _made_of(document: dict[str, Any], name: str) -> TableCheckpoint:
    known = [field.name for field in fields(TableCheckpoint) if field.default is MISSING]
    missing = [field for field in known if field not in document]
    if missing:
        raise WorkerError(f"The checkpoint {name} has no '{missing[0]}'.", remedy=_OTHER)
    checkpoint = TableCheckpoint(**{field: document[field] for field in known})
    for table in checkpoint.tables:
        if any(not math.isfinite(value) for row in table for value in row):
            raise WorkerError(
                f"The checkpoint {name} holds values that are no numbers.",
                remedy="Train with a smaller learning rate.",
            )
    return checkpoint


def _hash(document: dict[str, Any]) -> str:
    return hashlib.sha256(_dumped(document)).hexdigest()


def _dumped(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("utf-8")
