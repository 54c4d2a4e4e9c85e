"""Orphans of the daemon's children are adopted and killed; processes of live children are not."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.process

_PROGRAM = """
import subprocess, sys
from mosaic.contract.process_identity import ProcessIdentity, read_stat
from mosaic.trainer.processes.child_processes import (
    adopts_orphans_of, become_subreaper, end_adopted, start_child,
)

HIDE = (
    "import os, sys\\n"
    "pid = os.fork()\\n"
    "if pid == 0:\\n"
    "    {leave}\\n"
    "    os.execve('/bin/sleep', ['sleep', '1000'], {{}})\\n"
    "print(pid, flush=True)\\n"
)

def start(code):
    child = start_child(lambda: subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    ))
    return child, int(child.stdout.readline())

def is_alive(pid):
    stat = read_stat(pid)
    return stat is not None and not stat.is_dead
"""


def _run(code: str) -> "subprocess.CompletedProcess[str]":
    """Run the code in a separate process; the test process must not become a subreaper."""
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_an_orphan_is_killed() -> None:
    """It has its own session and no environment, and its parent has exited."""
    result = _run(
        """
        become_subreaper()
        child, hidden = start(HIDE.format(leave="os.setsid()"))
        identity = ProcessIdentity.of(child.pid)
        child.wait()
        assert is_alive(hidden)
        assert end_adopted() == set()
        assert not is_alive(hidden)
        assert adopts_orphans_of(identity)
        """
    )
    assert result.returncode == 0, result.stderr


def test_a_process_in_the_session_of_a_live_child_is_not_killed() -> None:
    """Its parent has exited, but its session belongs to the child."""
    result = _run(
        """
        become_subreaper()
        leave = "os.fork() and os._exit(0)"
        child, _ = start(HIDE.format(leave=leave) + "os.waitpid(pid, 0)\\nsys.stdin.read()")
        assert end_adopted() == set()
        assert is_alive(child.pid)
        child.stdin.close()
        child.wait()
        assert end_adopted() == set()
        """
    )
    assert result.returncode == 0, result.stderr


def test_without_a_subreaper_no_orphan_is_adopted() -> None:
    """Orphans are reparented to another process."""
    result = _run(
        """
        child, hidden = start(HIDE.format(leave="os.setsid()"))
        identity = ProcessIdentity.of(child.pid)
        child.wait()
        assert end_adopted() == set()
        assert not adopts_orphans_of(identity)
        import os, signal
        os.kill(hidden, signal.SIGKILL)
        """
    )
    assert result.returncode == 0, result.stderr
