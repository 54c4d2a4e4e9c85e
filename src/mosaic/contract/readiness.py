"""Preflight, dry runs, workers and bundles, as clients see them.

The messages of the same names in `proto/trainer.proto` have the same fields.
"""

from enum import StrEnum
from typing import Literal

import msgspec


class CheckStatus(StrEnum):
    OK = "ok"
    WARNING = "warning"
    BLOCKING = "blocking"


class PreflightItem(msgspec.Struct, kw_only=True, frozen=True):
    """The result of one preflight check."""

    check: str
    status: CheckStatus
    message: str
    remedy: str = ""
    action: str = ""
    """An action that clients can offer as a button, such as `install_bundle`."""
    action_argument: str = ""


class PreflightReport(msgspec.Struct, kw_only=True, frozen=True):
    """Whether a run can start on this machine, and its expected cost."""

    items: tuple[PreflightItem, ...]
    expected_duration_s: float | None = None
    expected_sps: float | None = None
    expected_memory_bytes: int | None = None
    earlier_runs: int = 0
    """Number of earlier runs that the estimate is based on."""
    command: tuple[str, ...] = ()
    """The command line of the run."""

    @property
    def is_blocked(self) -> bool:
        return any(item.status is CheckStatus.BLOCKING for item in self.items)


class DryRunReport(msgspec.Struct, kw_only=True, frozen=True):
    """The worker's own check of a configuration, without training."""

    ok: bool
    exit_code: int
    output: str
    error_output: str
    command: tuple[str, ...]
    summary_json: bytes | None = None
    duration_s: float
    run_command: tuple[str, ...]
    """The command line of a real run."""


class WorkerInfo(msgspec.Struct, kw_only=True, frozen=True):
    """A discovered worker, usable or not."""

    worker_id: str
    label: str = ""
    version: str = ""
    source: Literal["folder", "distribution"] = "folder"
    location: str = ""
    bundle: str = ""
    ready: bool = False
    """Whether a run can start without installing anything."""
    problem: str = ""
    remedy: str = ""
    descriptor_json: bytes | None = None


BundleState = Literal["ready", "missing", "broken", "installing", "outdated"]


class BundleInfo(msgspec.Struct, kw_only=True, frozen=True):
    """The virtual environment of a worker, installed or not."""

    name: str
    state: BundleState
    hash: str = ""
    path: str = ""
    """Relative to the home; empty when missing."""
    python: str = ""
    extras: tuple[str, ...] = ()
    available_extras: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    size_bytes: int = 0
    packages: int = 0
    runs: int = 0
    """Number of runs that use it."""
    problem: str = ""
    remedy: str = ""


InstallPhase = Literal["waiting", "preparing", "downloading", "installing", "checking", "done"]


class InstallProgress(msgspec.Struct, kw_only=True, frozen=True):
    """Progress of a bundle's installation."""

    phase: InstallPhase
    message: str = ""
    done: int = 0
    total: int = 0
    """0: unknown."""
    bundle: BundleInfo | None = None
    """Set in the phase `done`."""


class DaemonHealth(msgspec.Struct, kw_only=True, frozen=True):
    """Status of the daemon."""

    version: str
    pid: int
    started_at: float
    home: str
    address: str
    runs_by_state: dict[str, int] = {}
    disk_free_bytes: int = 0
    rss_bytes: int = 0
    cpus: int = 0
    cpus_free: int = 0
    memory_mb: int = 0
    gpus: tuple[str, ...] = ()
    max_runs: int = 0
    problems: tuple[str, ...] = ()
    last_event_seq: int = 0
