"""DaemonPool: real daemons that serve one test after the other.

Starting a daemon costs more processor time than most tests. A daemon is used again only if nothing
shows that a test was there: it is the same process, its settings and options are the defaults, its
runs can be deleted, and its home then holds what it held before. Otherwise it is ended, and the
next test gets a new one.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import grpc

from mosaic.contract.layout import Home
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.support import leftovers
from tests.support.daemon import DaemonUnderTest

_CHANGING = {"trainer.db", "trainer.db-wal", "trainer.db-shm", "logs", "worker_code", "venvs"}
"""Names in a home whose content may differ: immutable copies, logs, and the registry itself."""


class DaemonPool:
    """Idle daemons of this process, by what their homes were prepared with."""

    def __init__(self, make_folder: Callable[[], Path]) -> None:
        self._make_folder = make_folder
        self._idle: dict[Hashable, list[_Pooled]] = {}

    @contextmanager
    def daemon(
        self, kind: Hashable, prepare: Callable[[Home], None] = lambda _: None
    ) -> Iterator[DaemonUnderTest]:
        """A daemon that serves, as if it had been started for this test."""
        idle = self._idle.setdefault(kind, [])
        pooled = idle.pop() if idle else self._start(prepare)
        try:
            yield pooled.daemon
        finally:
            if pooled.is_as_new():
                idle.append(pooled)
            else:
                pooled.end()

    @contextmanager
    def new_daemon(self) -> Iterator[DaemonUnderTest]:
        """A daemon that no other test has used or will use."""
        pooled = self._start(lambda _: None)
        try:
            yield pooled.daemon
        finally:
            pooled.end()

    def close(self) -> None:
        for idle in self._idle.values():
            while idle:
                idle.pop().end()

    def _start(self, prepare: Callable[[Home], None]) -> "_Pooled":
        daemon = DaemonUnderTest(self._make_folder())
        try:
            prepare(daemon.home)
            line = daemon.start()
            assert line.startswith("ready "), line
        except BaseException:
            daemon.clean_up()
            raise
        return _Pooled(daemon)


class _Pooled:
    def __init__(self, daemon: DaemonUnderTest) -> None:
        self.daemon = daemon
        self._pid = daemon.pid
        self._options = daemon.options
        self._files = _files_of(daemon)
        leftovers.shared_pids.add(self._pid)

    def is_as_new(self) -> bool:
        """Deletes the runs of the test. False if anything else of it is left."""
        daemon = self.daemon
        if daemon.pid != self._pid or not daemon.is_serving or daemon.environment:
            return False
        if daemon.options != self._options:
            return False
        try:
            self._delete_runs()
        except grpc.RpcError:
            return False
        return _files_of(daemon) == self._files

    def end(self) -> None:
        leftovers.shared_pids.discard(self._pid)
        self.daemon.clean_up()

    def _delete_runs(self) -> None:
        daemon = self.daemon
        every = pb.ListRunsRequest(include_archived=True, page_size=1000)
        for run in daemon.stub.ListRuns(every).runs:
            if not RunState(run.state).is_final:
                with suppress(grpc.RpcError):  # it may have ended by now
                    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run.run_id, grace_s=0.1))
                daemon.until(run.run_id)
            daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run.run_id))
        (daemon.home.path / "window.ini").unlink(missing_ok=True)


def _files_of(daemon: DaemonUnderTest) -> dict[str, bytes | None]:
    """Files and folders of the daemon's home and of the folder around it, settings with content."""
    found: dict[str, bytes | None] = {}
    home = daemon.home
    for folder in (daemon.folder, home.path, home.trainer):
        for path in folder.iterdir():
            if path.name in _CHANGING or (path.is_dir() and not any(path.iterdir())):
                continue
            found[str(path)] = path.read_bytes() if path.suffix == ".toml" else None
    return found
