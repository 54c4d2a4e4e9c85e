"""Commands that hang, write too much output or leave children behind are bounded."""

import sys
import time
from pathlib import Path

import pytest

from mosaic.trainer.processes.watched_process import CommandResult, run_bounded

pytestmark = pytest.mark.process

TIMEOUT_S = 60.0


def run_code(code: str, limit_s: float = TIMEOUT_S, max_bytes: int = 1 << 20) -> CommandResult:
    command = [sys.executable, "-I", "-S", "-c", code]
    return run_bounded(command, limit_s=limit_s, max_output_bytes=max_bytes)


def test_both_outputs_and_the_exit_code_are_exact() -> None:
    """Bytes that are not valid UTF-8 are returned unchanged."""
    result = run_code("import os; os.write(1, b'\\xff\\0out'); os.write(2, b'err'); os._exit(7)")
    assert result == CommandResult(7, b"\xff\0out", b"err")


def test_large_output_on_both_pipes_does_not_block() -> None:
    """A full pipe never blocks the command; output beyond the limit is dropped and reported."""
    code = "import os\nfor n in range(40): os.write(1, b'a' * 65536); os.write(2, b'b' * 65536)"
    result = run_code(code, max_bytes=100_000)
    assert result.exit_code == 0
    assert result.output == b"a" * 100_000
    assert result.error_output == b"b" * 100_000
    assert result.is_output_truncated
    assert result.is_error_output_truncated


def test_output_of_exactly_the_limit_is_not_truncated() -> None:
    """The result is not marked as truncated."""
    result = run_code("import os; os.write(1, b'a' * 1000)", max_bytes=1000)
    assert (len(result.output), result.is_output_truncated) == (1000, False)


def test_a_command_that_hangs_is_killed() -> None:
    """A command that ignores SIGTERM is killed; its previous output is returned."""
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "os.write(1, b'ready')\n"
        "time.sleep(600)"
    )
    result = run_code(code, limit_s=2.0)
    assert result.timed_out
    assert result.exit_code == -9
    assert result.output in (b"ready", b"")


def test_a_command_that_closes_its_outputs_is_waited_for() -> None:
    """Closed pipes do not mean that the process has exited."""
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.2); os._exit(3)"
    assert run_code(code).exit_code == 3


def test_children_left_behind_are_killed(tmp_path: Path) -> None:
    """A child that keeps the pipes open does not delay the result and is killed."""
    pid_file = tmp_path / "child"
    code = (
        "import os, time\n"
        "child = os.fork()\n"
        f"if child: open({str(pid_file)!r}, 'w').write(str(child)); os._exit(0)\n"
        "time.sleep(600)"
    )
    result = run_code(code)
    assert (result.exit_code, result.timed_out) == (0, False)
    child = Path("/proc") / pid_file.read_text() / "stat"
    deadline = time.monotonic() + TIMEOUT_S
    while _is_alive(child):
        assert time.monotonic() < deadline, "the child is still alive"
        time.sleep(0.005)


def _is_alive(stat: Path) -> bool:
    try:
        return stat.read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"
    except OSError:
        return False


def test_a_missing_program_raises_file_not_found_error() -> None:
    """The caller formats the error message."""
    with pytest.raises(FileNotFoundError):
        run_bounded(["/no/such/program"], limit_s=TIMEOUT_S)


def test_no_file_descriptor_leaks() -> None:
    """The number of open descriptors is the same after several commands."""
    before = _open_descriptors()
    for _ in range(5):
        run_code("pass")
    assert _open_descriptors() == before


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
