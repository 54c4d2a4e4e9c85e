"""Checkpoints, data sets and disk usage of a home, as clients see them.

The messages of the same names in `proto/trainer.proto` have the same fields; those of
`CheckpointRecord` and `RetentionStatus` are `Checkpoint` and `Retention`.
"""

import msgspec


class CheckpointQuery(msgspec.Struct, kw_only=True, frozen=True):
    """Filter of a list of checkpoints. An empty field does not filter."""

    run_id: str = ""
    worker: str = ""
    algo: str = ""
    env_id: str = ""
    page_size: int = 0
    page_token: str = ""


class CheckpointRecord(msgspec.Struct, kw_only=True, frozen=True):
    """A checkpoint that a run wrote or a user imported."""

    checkpoint_id: str
    source: str
    """`run` or `imported`."""
    run_id: str = ""
    path: str
    """Relative to the home."""
    size_bytes: int
    t: float
    worker: str
    algo: str = ""
    env_id: str = ""
    meta_json: bytes = b"{}"
    """Metadata from its writer: step, metrics, sha256."""


class CheckpointPage(msgspec.Struct, kw_only=True, frozen=True):
    """A page of checkpoints, newest first."""

    checkpoints: tuple[CheckpointRecord, ...]
    next_page_token: str = ""


class CheckpointHeader(msgspec.Struct, kw_only=True, frozen=True):
    """Metadata that precedes the content of an imported checkpoint."""

    name: str = ""
    """File name; empty: `checkpoint`."""
    worker: str
    algo: str = ""
    env_id: str
    meta_json: bytes = b""
    size_bytes: int = 0
    """0: unknown."""
    sha256: str = ""
    """Empty: unknown."""


class CheckpointReport(msgspec.Struct, kw_only=True, frozen=True):
    """Whether a checkpoint matches its recorded metadata."""

    ok: bool
    problems: tuple[str, ...] = ()
    sha256: str = ""
    """Of the current content; empty for a folder and for unreadable files."""
    size_bytes: int = 0


class Dataset(msgspec.Struct, kw_only=True, frozen=True):
    """A data set of the home, or one that a run wrote."""

    dataset_id: str
    source: str
    """`run` or `home`."""
    run_id: str = ""
    name: str
    path: str
    """Relative to the home."""
    size_bytes: int = 0
    t: float = 0.0
    files: int = 0
    meta_json: bytes = b"{}"
    problem: str = ""
    """Why it cannot be used; empty when it can."""


class DatasetPage(msgspec.Struct, kw_only=True, frozen=True):
    """A page of data sets, newest first."""

    datasets: tuple[Dataset, ...]
    next_page_token: str = ""


class StorageUse(msgspec.Struct, kw_only=True, frozen=True):
    """Disk usage of one kind of file."""

    kind: str
    size_bytes: int


class RetentionStatus(msgspec.Struct, kw_only=True, frozen=True):
    """Retention limits, disk usage, and what `Prune` would remove."""

    max_gb: float | None = None
    """None: no limit."""
    keep_days: float | None = None
    """None: no limit."""
    used: tuple[StorageUse, ...] = ()
    limited_bytes: int = 0
    """Usage that counts towards `max_gb`: everything but bundles."""
    measured_at: float = 0.0
    prunable_bytes: int = 0
    prunable_items: int = 0


class PrunedItem(msgspec.Struct, kw_only=True, frozen=True):
    """An artifact that pruning removed or would remove."""

    run_id: str
    path: str
    """Relative to the run's directory."""
    size_bytes: int
    reason: str


class PruneReport(msgspec.Struct, kw_only=True, frozen=True):
    """What pruning removed or would remove."""

    items: tuple[PrunedItem, ...] = ()
    freed_bytes: int = 0
    not_listed: int = 0
    """Number of items that are not in `items`."""
    problems: tuple[str, ...] = ()
    """Items that could not be removed, with the reason."""
