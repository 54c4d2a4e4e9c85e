"""pytest plugin: a test that leaves a thread, a process, a timer or an open file behind fails.

What a module or session fixture starts belongs to that fixture. It exists before the test, or is
created while the fixture is set up, and is checked when the fixture is torn down.
"""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

import pytest

Item = TypeVar("Item")

TIMEOUT_S = 20.0
"""How long threads and processes that were asked to end may take on a busy machine."""
_POLL_S = 0.005

_LASTING_THREADS = (
    "Dummy-",  # a native thread of a library that called Python once
    "blocking_",  # the pool of mosaic.trainer.concurrency, which the process has only one of
)
_FOREIGN_FILES = (
    "/dev/", "/proc/", "/sys/", "/usr/", "/etc/", "/memfd:", "/var/cache/", "/var/lib/"
)  # fmt: skip


_IDLE_PROCESSES = ("mosaic_worker.thumbnails",)
"""Processes that a daemon keeps for some seconds, in case that they are needed again. Its own tests
check that they end."""

shared_pids: set[int] = set()
"""Processes that outlive a test on purpose, such as daemons of `daemon_pool`."""
predecessors: dict[int, int] = {}
"""Of a process that was restarted in place of another one, the other one."""


class Resources:
    """Threads, processes and files that exist at one moment."""

    def __init__(self) -> None:
        self.threads = set(threading.enumerate())
        self.processes = set(_pids())
        self.files = _open_files()


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - speed


def _open_files() -> dict[str, int]:
    """Regular files and folders by path, with the number of descriptors of each."""
    counts: dict[str, int] = {}
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - speed
        try:
            target = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115 - speed
        except OSError:
            continue  # the descriptor of the listing itself
        if target.startswith("/") and not target.startswith((*_FOREIGN_FILES, sys.prefix)):
            counts[target] = counts.get(target, 0) + 1
    return counts


def _active_timers() -> list[object]:
    """QTimers that run, in a process that has imported Qt."""
    core, shiboken = sys.modules.get("PySide6.QtCore"), sys.modules.get("shiboken6")
    if core is None or shiboken is None:
        return []
    return [
        found
        for found in gc.get_objects()
        if isinstance(found, core.QTimer) and shiboken.isValid(found) and found.isActive()
    ]


def _is_left(pid: int, before: Resources) -> bool:
    restarted = {new for new, old in predecessors.items() if old in before.processes}
    allowed = shared_pids | restarted
    if any(_has_ancestor(pid, process) for process in allowed):
        return False
    return _is_ours(pid) and not any(name in _command(pid) for name in _IDLE_PROCESSES)


def _is_ours(pid: int) -> bool:
    """Whether this pytest process started it, directly or not.

    A process whose parents have ended is a child of the init process, but it still has the
    environment that it was started with, or works in a folder of one of our tests.
    """
    if _has_ancestor(pid, os.getpid()):
        return True
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        folder = os.fsencode(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return False
    return any(mark in environment or mark in folder for mark in _marks())


def _marks() -> list[bytes]:
    return [os.fsencode(mark) for mark in _temporary_folders]


_temporary_folders: list[str] = []
"""The folder of this process's temporary folders."""


def _has_ancestor(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        pid = _stat(pid)[1]
    return False


def _stat(pid: int) -> tuple[str, int]:
    """State letter and parent of a process; `X` of one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "X", 0
    return fields[0], int(fields[1])


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:200]
    except OSError:
        return "?"


class Leftovers:
    """Compares what exists after a test with what existed before it."""

    def __init__(self) -> None:
        self._before: Resources | None = None
        self._timers: set[int] = set()
        """QTimers that shared fixtures keep running. To list them takes milliseconds."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        self._before = Resources()
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        """What a shared fixture creates may live until the fixture is torn down."""
        if fixturedef.scope == "function" or self._before is None:
            return (yield)
        before = Resources()
        result = yield
        after, known = Resources(), self._before
        known.threads |= after.threads - before.threads
        known.processes |= after.processes - before.processes
        for path, count in after.files.items():
            added = count - before.files.get(path, 0)
            if added > 0:
                known.files[path] = known.files.get(path, 0) + added
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        result = yield
        before, self._before = self._before, None
        if before is not None:
            problems = _problems(before)
            if "qapp" in getattr(item, "fixturenames", ()):
                problems += self._timer_problems()
            if problems:
                pytest.fail("left behind by this test:\n" + "\n".join(problems), pytrace=False)
        return result

    def _timer_problems(self) -> list[str]:
        def left_timers() -> list[str]:
            return [
                f"timer of {timer.parent()!r}, {timer.interval()} ms"  # type: ignore[attr-defined]
                for timer in _active_timers()
                if id(timer) not in self._timers
            ]

        if not left_timers():
            return []
        _delete_qt_objects()
        gc.collect()  # an unreachable timer is not left behind
        problems = _wait_for_none(left_timers)
        self._timers |= {id(timer) for timer in _active_timers()}
        return problems


def _problems(before: Resources) -> list[str]:
    def left_threads() -> list[str]:
        return [
            f"thread {thread.name}"
            for thread in threading.enumerate()
            if thread not in before.threads and not thread.name.startswith(_LASTING_THREADS)
        ]

    def left_processes() -> list[int]:
        fresh = [pid for pid in _pids() if pid not in before.processes]
        return [pid for pid in fresh if _stat(pid)[0] not in "ZX" and _is_left(pid, before)]

    def left_files() -> list[str]:
        return [
            f"open file {path}"
            for path, count in _open_files().items()
            if count > before.files.get(path, 0)
        ]

    problems = [*_wait_for_none(left_threads)]
    processes = _wait_for_none(left_processes)
    problems += [f"process {pid}: {_command(pid)}" for pid in processes]
    for pid in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    if left_files():
        gc.collect()  # an unreachable file object is not left behind
    return [*problems, *left_files()]


def _wait_for_none(left: Callable[[], list[Item]]) -> list[Item]:
    deadline = time.monotonic() + TIMEOUT_S
    while (found := left()) and time.monotonic() < deadline:
        _process_qt_events()
        time.sleep(_POLL_S)
    return found


def _delete_qt_objects() -> None:
    """Those that wait for the event loop to delete them, as pytest-qt leaves its widgets."""
    core = sys.modules.get("PySide6.QtCore")
    if core is not None and core.QCoreApplication.instance() is not None:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)


def _process_qt_events() -> None:
    """A thread may end only after the window has handled what it sent."""
    core = sys.modules.get("PySide6.QtCore")
    application = core.QCoreApplication.instance() if core else None
    if application is not None:
        application.processEvents()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Leftovers(), "leftovers")


@pytest.fixture(scope="session", autouse=True)
def _own_temporary_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    _temporary_folders.append(str(tmp_path_factory.getbasetemp()))
