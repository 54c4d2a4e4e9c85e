"""`started.json` and `exit.json`: what the supervisor tells about a run's process.

The supervisor writes them without this module (it imports nothing of ours); a test keeps the two in
step. Unknown fields are ignored, so that a daemon can read what a newer supervisor wrote.
"""

from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.type_info import work_out


class ProcessRecord(msgspec.Struct, kw_only=True, frozen=True):
    """A record that is there completely or not at all."""

    v: int = 1

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """None when there is no such file."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise UserError(
                f"{path} cannot be read: {error}.",
                remedy="It is written by the run's supervisor alone; restore it or delete the run.",
            ) from error


class SupervisorStamp(msgspec.Struct, kw_only=True, frozen=True):
    """Which process the supervisor is; of the same boot as the worker."""

    pid: int
    start_ticks: int


class StartedRecord(ProcessRecord, kw_only=True, frozen=True):
    """`started.json`, written before the worker's first instruction."""

    pid: int
    """Of the worker, and of its process group and session."""
    start_ticks: int
    """Field 22 of `/proc/PID/stat`: with the boot id it tells a process from a later one."""
    boot_id: str
    t: float
    supervisor: SupervisorStamp


class ExitRecord(ProcessRecord, kw_only=True, frozen=True):
    """`exit.json`, written when the worker and all that it left behind are gone."""

    exit_code: int | None
    """None when a signal ended the worker."""
    signal: int | None
    signal_name: str | None = None
    t: float
    """When the worker ended, in seconds since the epoch."""
    duration_s: float
    max_rss_bytes: int
    """Of the largest process of the run."""
    cpu_s: float
    """Of all processes of the run."""
    strays_ended: int
    """How many processes outlived the worker and had to be ended."""
    strays_left: int = 0
    """How many could not be ended within the time that the supervisor allows."""
    error: str | None = None
    """Why the command could not be executed."""


work_out(StartedRecord, ExitRecord)
