"""`started.json` and `exit.json`: the supervisor's records of a run's process.

The supervisor writes them without this module, because it imports only the standard library; a test
keeps the two consistent. Unknown fields are ignored, so that a daemon can read the records of a
newer supervisor.
"""

from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.regular_files import read_regular

_MAX_RECORD_BYTES = 64 << 10


class DamagedRecordError(UserError):
    """A record exists and is not one that a supervisor wrote."""


class ProcessRecord(msgspec.Struct, kw_only=True, frozen=True):
    """A record that is written atomically."""

    v: int = 1

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read the record; None when the file does not exist.

        Never blocks and follows no link, because a worker may have replaced the file.
        Raises `DamagedRecordError`.
        """
        try:
            return msgspec.json.decode(read_regular(path, _MAX_RECORD_BYTES), type=cls)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise DamagedRecordError(
                f"{path} cannot be read: {error}.",
                remedy="Only the run's supervisor writes it; restore the file or delete the run.",
            ) from error


class SupervisorStamp(msgspec.Struct, kw_only=True, frozen=True):
    """Identity of the supervisor process; the boot id is that of the worker."""

    pid: int
    start_ticks: int


class SpoolStamp(msgspec.Struct, kw_only=True, frozen=True):
    """Identity of the worker's stdout, whatever file has the name of the spool later."""

    device: int
    inode: int
    descriptor: int
    """Of the supervisor, which has the file open."""


class StartedRecord(ProcessRecord, kw_only=True, frozen=True):
    """`started.json`, written before the worker's first instruction."""

    pid: int
    """Of the worker; also the id of its process group and session."""
    start_ticks: int
    """Field 22 of `/proc/PID/stat`: with the boot id it identifies a process."""
    boot_id: str
    t: float
    supervisor: SupervisorStamp
    spool: SpoolStamp | None = None
    """None in the records of earlier versions."""
    cgroup: str | None = None
    """The control group of the run's processes; None where there is none."""


class ExitRecord(ProcessRecord, kw_only=True, frozen=True):
    """`exit.json`, written when the worker and all of its child processes have exited."""

    exit_code: int | None
    """None when a signal killed the worker."""
    signal: int | None
    signal_name: str | None = None
    t: float
    """When the worker exited, in seconds since the epoch."""
    duration_s: float
    max_rss_bytes: int
    """Of the largest process of the run."""
    cpu_s: float
    """Of all processes of the run."""
    strays_ended: int
    """Number of processes that outlived the worker and were killed."""
    strays_left: int = 0
    """Number of those that could not be killed before the supervisor's timeout."""
    error: str | None = None
    """Why the command could not be executed."""
    spool_bytes: int | None = None
    """Number of bytes that the worker wrote to its stdout."""
    spool_restored: bool = False
    """Whether the worker had removed or replaced its spool, which was then restored."""


def run_start_time(run: RunDirectory) -> float | None:
    """Return the start of a run in seconds since the epoch; None when its record is unusable."""
    try:
        started = StartedRecord.read(run.started)
    except UserError:
        return None
    return started.t if started else None


prebuild_decoders(StartedRecord, ExitRecord)
