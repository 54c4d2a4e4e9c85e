"""Runs as clients see them.

The messages of the same names in `proto/trainer.proto` have the same fields; that of `RunStats` is
`RunDigest`.
"""

import msgspec

from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.run_states import RunState


class RunStats(msgspec.Struct, kw_only=True, frozen=True):
    """Statistics of a run, for lists and progress bars."""

    steps: int = 0
    episodes: int = 0
    metrics: int = 0
    last_step_at: float | None = None
    latest_return: float | None = None
    mean_return: float | None = None
    """Of the last 100 finished episodes."""
    sps: float | None = None
    progress_done: float | None = None
    progress_total: float | None = None
    progress_unit: str = ""
    eta_s: float | None = None
    heartbeat_at: float | None = None
    rss_bytes: int | None = None
    rejects: int = 0
    spool_bytes: int = 0
    committed_bytes: int = 0
    disk_bytes: int | None = None
    """Total size of the run's directory when it was last measured."""

    @property
    def steps_done(self) -> int:
        """Number of steps, also of a run that reports progress but not every step."""
        reported = self.progress_done if self.progress_unit == "steps" else None
        return max(self.steps, int(reported or 0))


class RunRecord(msgspec.Struct, kw_only=True, frozen=True):
    """One run in the list of runs."""

    run_id: str
    name: str = ""
    worker: str
    mode: str
    algo: str = ""
    env_id: str
    seed: int
    state: RunState
    reason: str = ""
    remedy: str = ""
    exit_code: int | None = None
    created_at: float
    started_at: float | None = None
    ended_at: float | None = None
    priority: int = 0
    tags: tuple[str, ...] = ()
    note: str = ""
    archived: bool = False
    parent_run: str | None = None
    warnings: tuple[str, ...] = ()
    digest: RunStats = RunStats()
    imported: bool = False
    """From an archive: code that it names is not run without consent."""


class StateChange(msgspec.Struct, kw_only=True, frozen=True):
    """A state transition of a run, with its reason."""

    state: RunState
    t: float
    reason: str = ""


class BundleUse(msgspec.Struct, kw_only=True, frozen=True):
    """The virtual environment and sources that a run used. Paths are relative to the home."""

    name: str
    hash: str
    path: str
    python: str
    extras: tuple[str, ...] = ()
    packages: dict[str, str] = {}
    code_path: str = ""
    code_hash: str = ""


class RunDetails(msgspec.Struct, kw_only=True, frozen=True):
    """Everything about one run."""

    run: RunRecord
    config_json: bytes
    resolved_json: bytes | None = None
    """The worker's `config` event: all resolved values."""
    manifest_json: bytes = b"{}"
    command: tuple[str, ...] = ()
    bundle: BundleUse | None = None
    history: tuple[StateChange, ...] = ()
    output_tail: tuple[str, ...] = ()
    """In a final state: the last 50 lines of the run's output."""
    directory: str = ""
    queue_position: int | None = None
    withheld_json: bytes = b"{}"
    """Of an imported run: the code that its configuration names, which `config_json` omits;
    `mosaic.contract.imported_code` restores it after a user has agreed."""


class RunQuery(msgspec.Struct, kw_only=True, frozen=True):
    """Filter of a list of runs. An empty field does not filter."""

    states: tuple[RunState, ...] = ()
    worker: str = ""
    algo: str = ""
    env_id: str = ""
    tag: str = ""
    text: str = ""
    """Substring of the name, id, environment, algorithm, worker or note."""
    parent_run: str = ""
    include_archived: bool = False
    page_size: int = 0
    page_token: str = ""


class RunPage(msgspec.Struct, kw_only=True, frozen=True):
    """A page of runs, newest first."""

    runs: tuple[RunRecord, ...]
    next_page_token: str = ""
    total: int = 0
    last_event_seq: int = 0
    """Resume `WatchRuns` from this number to miss no event after this page."""


prebuild_decoders(BundleUse)
