"""The daemon's settings that the window can change: their words and their bounds, in one table."""

from dataclasses import dataclass
from typing import Literal

Number = int | float


@dataclass(frozen=True, slots=True)
class DaemonField:
    """One number of `SettingValues`, or none of it."""

    name: str
    label: str
    help: str
    kind: Literal["int", "float"]
    low: Number
    high: Number
    unit: str = ""
    empty: str = ""
    """What it means that there is no number."""

    def problem(self, value: Number | str | None) -> str:
        """What is wrong with a value that was typed; empty: nothing."""
        bounds = f"from {self.low:,} to {self.high:,}"
        if value is None:
            return "" if self.empty else f"Give a number {bounds}."
        if isinstance(value, str) or (self.kind == "int" and not isinstance(value, int)):
            what = "whole number" if self.kind == "int" else "number"
            return f"Give a {what} {bounds}{', or nothing' if self.empty else ''}."
        return "" if self.low <= value <= self.high else f"Give a number {bounds}."


STORAGE_FIELDS = (
    DaemonField(
        "retention_max_gb",
        "Keep at most",
        "How much runs may take together, without installed bundles. What is above it can be freed "
        "below, the oldest first; nothing is removed by itself.",
        "float",
        0,
        1_000_000,
        "GB",
        "no limit",
    ),
    DaemonField(
        "retention_keep_days",
        "Keep for",
        "After so long, the artifacts of a run that is over may be freed. Runs tagged “keep” stay.",
        "float",
        0,
        36_500,
        "days",
        "for ever",
    ),
    DaemonField(
        "min_free_disk_mb",
        "Leave free",
        "With less than this on the disk no run is started.",
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
        "Where the daemon listens on this machine. 0 is any port that is free.",
        "int",
        0,
        65_535,
        "",
        "50055, or any that is free",
    ),
    DaemonField(
        "max_runs",
        "Runs at once",
        "How many runs may have a process at the same time; others wait in the queue.",
        "int",
        1,
        10_000,
        "",
        "64",
    ),
    DaemonField(
        "cpus",
        "CPUs for runs",
        "How many CPUs runs may ask for together.",
        "int",
        1,
        4_096,
        "",
        "all of this machine",
    ),
    DaemonField(
        "memory_mb",
        "Memory for runs",
        "How much memory runs may ask for together.",
        "int",
        1,
        1_000_000_000,
        "MB",
        "all of this machine",
    ),
    DaemonField(
        "stop_grace_s",
        "Time to stop",
        "How long a run that was told to stop may take, before it is ended.",
        "float",
        0,
        3_600,
        "s",
        "10",
    ),
)
