"""Daemon settings that the window can change: labels, help and bounds."""

from dataclasses import dataclass
from typing import Literal

Number = int | float


@dataclass(frozen=True, slots=True)
class DaemonField:
    """One optional number of `SettingValues`."""

    name: str
    label: str
    help: str
    kind: Literal["int", "float"]
    low: Number
    high: Number
    unit: str = ""
    empty: str = ""
    """Placeholder for an empty field: the default."""

    def problem(self, value: Number | str | None) -> str:
        """The validation error of a value; empty if it is valid."""
        bounds = f"from {self.low:,} to {self.high:,}"
        if value is None:
            return "" if self.empty else f"Enter a number {bounds}."
        if isinstance(value, str) or (self.kind == "int" and not isinstance(value, int)):
            kind = "integer" if self.kind == "int" else "number"
            article = "an" if kind == "integer" else "a"
            return f"Enter {article} {kind} {bounds}{', or nothing' if self.empty else ''}."
        return "" if self.low <= value <= self.high else f"Enter a number {bounds}."


STORAGE_FIELDS = (
    DaemonField(
        "retention_max_gb",
        "Storage limit",
        "Disk space of all runs, without bundles. Nothing is removed automatically.",
        "float",
        0,
        1_000_000,
        "GB",
        "no limit",
    ),
    DaemonField(
        "retention_keep_days",
        "Retention period",
        "Age at which artifacts of finished runs can be freed, except runs tagged “keep”.",
        "float",
        0,
        36_500,
        "days",
        "forever",
    ),
    DaemonField(
        "min_free_disk_mb",
        "Minimum free space",
        "With less free disk space no run starts.",
        "int",
        0,
        100_000_000,
        "MB",
        "200",
    ),
)

DAEMON_FIELDS = (
    DaemonField(
        "port",
        "Port",
        "TCP port of the daemon on this machine; 0: any free port.",
        "int",
        0,
        65_535,
        "",
        "none: a Unix domain socket",
    ),
    DaemonField(
        "max_runs",
        "Concurrent runs",
        "Maximum number of running runs; others are queued.",
        "int",
        1,
        10_000,
        "",
        "64",
    ),
    DaemonField(
        "cpus",
        "CPUs for runs",
        "Maximum number of CPUs of all runs.",
        "int",
        1,
        4_096,
        "",
        "all of this machine",
    ),
    DaemonField(
        "memory_mb",
        "Memory for runs",
        "Maximum memory of all runs.",
        "int",
        1,
        1_000_000_000,
        "MB",
        "all of this machine",
    ),
    DaemonField(
        "stop_grace_s",
        "Stop timeout",
        "Time a run has to stop before it is killed.",
        "float",
        0,
        3_600,
        "s",
        "10",
    ),
)
