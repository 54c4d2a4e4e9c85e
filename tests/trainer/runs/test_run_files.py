"""The last lines of a run's output are plain text."""

import os
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.trainer.runs.run_files import MAX_LINE_LENGTH, last_lines


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """An empty run directory."""
    directory = Home(tmp_path).run(new_ulid())
    directory.path.mkdir(parents=True)
    return directory


def write_and_read(run: RunDirectory, data: bytes, count: int = 50) -> tuple[str, ...]:
    run.worker_log.write_bytes(data)
    return last_lines(run, count)


def test_a_missing_or_special_file_has_no_lines(run: RunDirectory) -> None:
    """A run that never started has no output."""
    assert last_lines(run) == ()
    assert write_and_read(run, b"") == ()
    run.worker_log.unlink()
    os.mkfifo(run.worker_log)
    assert last_lines(run) == ()


def test_only_the_last_lines_are_returned(run: RunDirectory) -> None:
    """In order, including blank lines between them, without trailing blank lines."""
    lines = [f"line {number}" for number in range(1000)]
    assert write_and_read(run, "\n".join(lines).encode()) == tuple(lines[-50:])
    assert write_and_read(run, "\n".join(lines).encode() + b"\n", count=3) == tuple(lines[-3:])
    assert write_and_read(run, b"a\n\nb\n\n\n") == ("a", "", "b")
    assert write_and_read(run, b"a\nb\n", count=0) == ()


def test_a_huge_log_is_read_from_its_end(run: RunDirectory) -> None:
    """Only the end of a large log is read."""
    with run.worker_log.open("wb") as file:
        file.seek(1 << 40)
        file.write(b"\nfirst\nlast\n")
    assert last_lines(run, 2) == ("first", "last")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"10%\r 50%\r100%", "100%"),
        (b"\r100%|####| 5/5\r", "100%|####| 5/5"),
        (b"windows line\r", "windows line"),
        (b"\x1b[31mred\x1b[0m and \x1b[1;4mbold\x1b[m", "red and bold"),
        (b"\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "text link"),
        (b"\x1b(Bplain\x1b[A\x1b[2K", "plain"),
        (b"bell\x07 nul\x00 back\x08", "bell nul back"),
        (b"a\tb", "a   b"),
        (b"broken \xff\xfe utf-8", "broken \ufffd\ufffd utf-8"),
        ("reversed \u202e text \u2028 end".encode(), "reversed  text  end"),
        ("c1 \x9b31m".encode(), "c1 31m"),
        (b"\x1b", ""),
        (b"\x1b[", ""),
        ("Täglich grüßt das Murmeltier 🦫".encode(), "Täglich grüßt das Murmeltier 🦫"),
    ],
)
def test_terminal_control_sequences_are_removed(
    run: RunDirectory, raw: bytes, expected: str
) -> None:
    """Progress bars show their last state; colours, titles and control characters are removed."""
    assert write_and_read(run, b"before\n" + raw + b"\nafter\n") == ("before", expected, "after")


def test_long_lines_are_truncated(run: RunDirectory) -> None:
    """The lines after a long line are returned, too."""
    lines = write_and_read(run, b"x" * 5_000_000 + b"\nshort\n")
    assert lines[-1] == "short"
    assert all(len(line) <= MAX_LINE_LENGTH for line in lines)
    progress = write_and_read(run, b"\r".join(b"%d%%" % n for n in range(1_000_000)))
    assert progress == ("999999%",)
