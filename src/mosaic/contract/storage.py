"""What a home keeps besides the runs themselves: checkpoints, data sets, and how much it all takes.

The messages of the same names in `proto/trainer.proto` have the same fields.
"""

import msgspec


class CheckpointQuery(msgspec.Struct, kw_only=True, frozen=True):
    """Which checkpoints to list. What is empty does not filter."""

    run_id: str = ""
    worker: str = ""
    algo: str = ""
    env_id: str = ""
    page_size: int = 0
    page_token: str = ""


class Checkpoint(msgspec.Struct, kw_only=True, frozen=True):
    """A saved policy: one that a run wrote, or one that was imported."""

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
    """What its writer told of it: step, metrics, sha256."""


class CheckpointPage(msgspec.Struct, kw_only=True, frozen=True):
    """A page of checkpoints, newest first."""

    checkpoints: tuple[Checkpoint, ...]
    next_page_token: str = ""


class CheckpointHeader(msgspec.Struct, kw_only=True, frozen=True):
    """What comes before the content of a checkpoint that is imported."""

    name: str = ""
    """Of the file; empty: `checkpoint`."""
    worker: str
    algo: str = ""
    env_id: str
    meta_json: bytes = b""
    size_bytes: int = 0
    """0: not known."""
    sha256: str = ""
    """Empty: not known."""


class CheckpointReport(msgspec.Struct, kw_only=True, frozen=True):
    """Whether a checkpoint is what was recorded of it."""

    ok: bool
    problems: tuple[str, ...] = ()
    sha256: str = ""
    """As it is now; empty for a folder, and for what cannot be read."""
    size_bytes: int = 0


class Dataset(msgspec.Struct, kw_only=True, frozen=True):
    """A data set of the home, or one that a run has made."""

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
    """Why it cannot be used; empty: none."""


class DatasetPage(msgspec.Struct, kw_only=True, frozen=True):
    """A page of data sets, newest first."""

    datasets: tuple[Dataset, ...]
    next_page_token: str = ""


class StorageUse(msgspec.Struct, kw_only=True, frozen=True):
    """What one kind of file takes."""

    kind: str
    size_bytes: int


class Retention(msgspec.Struct, kw_only=True, frozen=True):
    """What is kept, what it takes, and what `Prune` would do about it."""

    max_gb: float | None = None
    """None: no limit."""
    keep_days: float | None = None
    """None: for ever."""
    used: tuple[StorageUse, ...] = ()
    limited_bytes: int = 0
    """What counts towards `max_gb`: all but bundles."""
    measured_at: float = 0.0
    prunable_bytes: int = 0
    prunable_items: int = 0


class PrunedItem(msgspec.Struct, kw_only=True, frozen=True):
    """An artifact that was removed, or would be."""

    run_id: str
    path: str
    """Relative to the run's directory."""
    size_bytes: int
    reason: str


class PruneReport(msgspec.Struct, kw_only=True, frozen=True):
    """What pruning has done, or would do."""

    items: tuple[PrunedItem, ...] = ()
    freed_bytes: int = 0
    not_listed: int = 0
    """How many more there are than `items` lists."""
    problems: tuple[str, ...] = ()
    """What could not be removed, and why."""
