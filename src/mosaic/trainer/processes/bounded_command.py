"""A short command that can neither hang us nor flood us.

Asked of drivers, of a worker's Python and for a dry run; runs have a supervisor instead.
"""

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mosaic.trainer.processes.watched_process import Stream, run_watched

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What came of a command. Output beyond the limit is read and dropped."""

    exit_code: int
    """As of `subprocess`: negative when a signal ended it."""
    output: bytes
    error_output: bytes
    timed_out: bool = False
    output_cut: bool = False
    error_output_cut: bool = False


def run_bounded(
    command: Sequence[str | Path],
    *,
    limit_s: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    most_output_bytes: int = _MIB,
) -> CommandOutcome:
    """Run `command` in a process group of its own, without a shell and without input.

    When it ends, or the limit is over, its whole group is killed.
    Raises `OSError` when it cannot be executed. Safe from any thread.
    """
    deadline = time.monotonic() + limit_s
    kept: dict[Stream, _Kept] = {"out": _Kept(most_output_bytes), "err": _Kept(most_output_bytes)}
    exit_code = run_watched(
        command,
        cwd=folder,
        environment=environment,
        on_output=lambda stream, data: kept[stream].add(data),
        may_continue=lambda: time.monotonic() < deadline,
    )
    return CommandOutcome(
        exit_code=-signal.SIGKILL if exit_code is None else exit_code,
        output=bytes(kept["out"].data),
        error_output=bytes(kept["err"].data),
        timed_out=exit_code is None,
        output_cut=kept["out"].is_cut,
        error_output_cut=kept["err"].is_cut,
    )


class _Kept:
    """The beginning of an output."""

    def __init__(self, most_bytes: int) -> None:
        self.data = bytearray()
        self.is_cut = False
        self._most_bytes = most_bytes

    def add(self, data: bytes) -> None:
        room = self._most_bytes - len(self.data)
        self.data += data[:room]
        self.is_cut |= len(data) > room
