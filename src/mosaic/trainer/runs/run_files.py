"""Files in a run's directory: written before the start, removed at the end; the output's end."""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.regular_files import open_regular, read_regular
from mosaic.contract.run_config import TrainRunConfig, to_json
from mosaic.contract.runs import BundleUse
from mosaic.trainer.registry.text_rules import plain_line

_log = logging.getLogger(__name__)

_MAX_LAUNCH_BYTES = 1 << 20
MAX_LINE_LENGTH = 2_000
_BLOCK_BYTES = 64 << 10
_BYTES_PER_LINE = 8 << 10
"""Maximum bytes per line, on average: a progress bar rewrites one line for hours."""
_UNFINISHED = ".frames-*.tmp"


class LaunchRecord(msgspec.Struct, kw_only=True, frozen=True):
    """`launch.json`: what a run was started with, for a registry that has to be rebuilt."""

    command: tuple[str, ...]
    bundle: BundleUse

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """None when the file is missing or unreadable."""
        try:
            return msgspec.json.decode(read_regular(path, _MAX_LAUNCH_BYTES), type=cls)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, path: Path) -> None:
        write_atomically(path, msgspec.json.encode(self))


def write_config(home: Home, run: RunDirectory, config: TrainRunConfig) -> None:
    """Write the configuration to the run's directory, which is created, and to `configs/`."""
    for folder in (run.path, home.configs):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = to_json(config)
    write_atomically(run.config, data)
    write_atomically(home.config_copy(run.run_id), data)


prebuild_decoders(LaunchRecord)


def remove_frames(run: RunDirectory) -> None:
    """Remove the frame file and unfinished ones. Never raises.

    A replay renders every frame again. Called before the end of a run is recorded, so that a
    finished run has no frames even if the daemon is killed.
    """
    leftovers = [run.frames]
    with suppress(OSError):
        leftovers += run.path.glob(_UNFINISHED)
    for path in leftovers:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:  # a folder of that name, a read-only disk
            _log.warning("T433 %s could not be removed: %s", path, error)


def last_lines(run: RunDirectory, count: int = 50) -> tuple[str, ...]:
    """The last lines of `worker.log`; empty when the file does not exist."""
    try:
        descriptor = open_regular(run.worker_log)
    except OSError:
        return ()
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - opened by descriptor
        tail = _read_tail(file.fileno(), count)
    lines = [_plain(line) for line in tail.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines[-count:]) if count > 0 else ()


def _read_tail(descriptor: int, count: int) -> bytes:
    """The end of the file: at least `count` lines, up to a limit of bytes."""
    start = os.fstat(descriptor).st_size
    blocks: list[bytes] = []
    newlines = size = 0
    while start > 0 and newlines <= count and size < _BLOCK_BYTES + count * _BYTES_PER_LINE:
        length = min(_BLOCK_BYTES, start)
        start -= length
        block = os.pread(descriptor, length, start)
        blocks.append(block)
        size += len(block)
        newlines += block.count(b"\n")
    return b"".join(reversed(blocks))


def _plain(line: bytes) -> str:
    # A progress bar rewrites its line: only its last state counts.
    states = [state for state in line.split(b"\r") if state.strip()]
    text = plain_line(states[-1].decode(errors="replace")) if states else ""
    return text.expandtabs(4).rstrip()[:MAX_LINE_LENGTH]
