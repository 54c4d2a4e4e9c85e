"""The last lines of a run's output, as plain text that any terminal or window can show."""

import os
import re

from mosaic.contract.layout import RunDirectory
from mosaic.trainer.artifacts.inside_run import open_regular

LONGEST_LINE = 2_000
_BLOCK_BYTES = 64 << 10
_BYTES_PER_LINE = 8 << 10
"""What is read for a line at most, on average: a progress bar repaints one line for hours."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, movements of the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"  # all other sequences
)
# Control characters but the tab, line separators, and marks that turn the direction of writing.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def last_lines(run: RunDirectory, count: int = 50) -> tuple[str, ...]:
    """What the run wrote last to `worker.log`; nothing when there is no such file."""
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
    """The end of the file: `count` whole lines and a bit, or as much of them as is sensible."""
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
    # A progress bar writes its line again and again: what counts is its last state.
    states = [state for state in line.split(b"\r") if state.strip()]
    text = _ESCAPES.sub("", states[-1].decode(errors="replace") if states else "")
    return _CONTROL.sub("", text.expandtabs(4)).rstrip()[:LONGEST_LINE]
