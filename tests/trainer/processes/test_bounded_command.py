"""Commands that hang, flood or leave children behind do no harm."""

import sys
import time
from pathlib import Path

import pytest

from mosaic.trainer.processes.watched_process import CommandResult, run_bounded

pytestmark = pytest.mark.process

GENEROUS_S = 60.0


def run_code(code: str, limit_s: float = GENEROUS_S, max_bytes: int = 1 << 20) -> CommandResult:
    command = [sys.executable, "-I", "-S", "-c", code]
    return run_bounded(command, limit_s=limit_s, max_output_bytes=max_bytes)


def test_both_outputs_and_the_exit_code_are_exact() -> None:
    """Bytes that are not text come back as they were."""
    outcome = run_code("import os; os.write(1, b'\\xff\\0out'); os.write(2, b'err'); os._exit(7)")
    assert outcome == CommandResult(7, b"\xff\0out", b"err")


def test_much_output_on_both_pipes_does_not_block() -> None:
    """A full pipe never stops the command; what is beyond the limit is dropped and reported."""
    code = "import os\nfor n in range(40): os.write(1, b'a' * 65536); os.write(2, b'b' * 65536)"
    outcome = run_code(code, max_bytes=100_000)
    assert outcome.exit_code == 0
    assert outcome.output == b"a" * 100_000
    assert outcome.error_output == b"b" * 100_000
    assert outcome.is_output_truncated
    assert outcome.is_error_output_truncated


def test_output_of_exactly_the_limit_is_not_cut() -> None:
    """Nothing is said to be missing when nothing is."""
    outcome = run_code("import os; os.write(1, b'a' * 1000)", max_bytes=1000)
    assert (len(outcome.output), outcome.is_output_truncated) == (1000, False)


def test_a_command_that_hangs_is_killed() -> None:
    """Even one that ignores polite signals; what it said before is kept."""
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "os.write(1, b'ready')\n"
        "time.sleep(600)"
    )
    outcome = run_code(code, limit_s=2.0)
    assert outcome.timed_out
    assert outcome.exit_code == -9
    assert outcome.output in (b"ready", b"")


def test_a_command_that_closes_its_outputs_is_waited_for() -> None:
    """Closed pipes are not the end of the process, and cost no processor time meanwhile."""
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.2); os._exit(3)"
    assert run_code(code).exit_code == 3


def test_children_left_behind_are_killed(tmp_path: Path) -> None:
    """A child that holds the pipes open neither delays the answer nor survives it."""
    note = tmp_path / "child"
    code = (
        "import os, time\n"
        "child = os.fork()\n"
        f"if child: open({str(note)!r}, 'w').write(str(child)); os._exit(0)\n"
        "time.sleep(600)"
    )
    outcome = run_code(code)
    assert (outcome.exit_code, outcome.timed_out) == (0, False)
    child = Path("/proc") / note.read_text() / "stat"
    deadline = time.monotonic() + GENEROUS_S
    while _lives(child):
        assert time.monotonic() < deadline, "the child is still there"
        time.sleep(0.005)


def _lives(stat: Path) -> bool:
    try:
        return stat.read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"
    except OSError:
        return False


def test_a_program_that_is_not_there_is_an_os_error() -> None:
    """The caller says in its own words what is missing."""
    with pytest.raises(FileNotFoundError):
        run_bounded(["/no/such/program"], limit_s=GENEROUS_S)


def test_nothing_is_left_open() -> None:
    """A thousand commands later the daemon still has its descriptors."""
    before = _open_descriptors()
    for _ in range(5):
        run_code("pass")
    assert _open_descriptors() == before


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
