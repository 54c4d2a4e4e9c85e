"""The last lines of a run's output, as plain text without control sequences."""

import os

from mosaic.contract.layout import RunDirectory
from mosaic.contract.regular_files import open_regular
from mosaic.trainer.registry.text_rules import plain_line

MAX_LINE_LENGTH = 2_000
_BLOCK_BYTES = 64 << 10
_BYTES_PER_LINE = 8 << 10
"""Maximum bytes per line, on average: a progress bar rewrites one line for hours."""


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
