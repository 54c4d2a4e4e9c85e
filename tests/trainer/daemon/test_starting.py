"""Starting and stopping the daemon: one per home, its address, files and shutdown."""

import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from mosaic.contract.endpoint import Endpoint
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub
from mosaic.contract.run_states import RunState
from mosaic.trainer.daemon_settings import DEFAULT_PORT
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process


def test_the_endpoint_file(daemon: DaemonUnderTest) -> None:
    """The file has the address, relative to the home, and the process identity."""
    endpoint = Endpoint.read(daemon.home.endpoint)
    assert endpoint is not None
    socket_path = daemon.home.path / endpoint.address.removeprefix("unix:")
    assert daemon.address == f"unix:{socket_path}"
    assert stat.S_ISSOCK(socket_path.stat().st_mode)
    assert endpoint.certificate is None
    assert ProcessIdentity(endpoint.pid, endpoint.start_ticks, endpoint.boot_id).is_alive()


def test_a_second_daemon_on_one_home_is_rejected(daemon: DaemonUnderTest) -> None:
    """The error names the process and address of the first daemon, which keeps running."""
    second = DaemonUnderTest(daemon.folder)
    error = second.start_error()
    assert str(daemon.pid) in error["message"]
    assert daemon.address.rpartition("/")[2] in error["message"]
    assert "daemon stop" in error["remedy"]
    assert error["code"] == "T382"
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid
    assert Endpoint.read(daemon.home.endpoint) is not None


def test_a_daemon_starts_after_a_killed_one(daemon: DaemonUnderTest) -> None:
    """The next daemon takes the lock, replaces the endpoint and removes the old socket."""
    killed = daemon.pid
    daemon.kill()
    assert daemon.home.endpoint.exists()
    daemon.restart()
    assert len(list(daemon.home.sockets())) == 1
    endpoint = Endpoint.read(daemon.home.endpoint)
    assert endpoint is not None
    assert endpoint.pid == daemon.pid != killed


def test_a_clean_shutdown_removes_the_endpoint(daemon: DaemonUnderTest) -> None:
    """SIGTERM exits with 0 and removes the endpoint file and the socket."""
    assert daemon.stop() == 0
    assert not daemon.home.endpoint.exists()
    assert not list(daemon.home.sockets())


def test_shutdown_by_call(daemon: DaemonUnderTest) -> None:
    """The response has the number of runs that keep running."""
    run_id = daemon.submit(steps=1_000_000, rate=100)
    daemon.until(run_id, RunState.RUNNING)
    assert daemon.stub.Shutdown(pb.ShutdownRequest()).runs_left_running == 1
    assert daemon.wait() == 0
    assert not daemon.home.endpoint.exists()


def test_runs_continue_after_a_graceful_stop(daemon: DaemonUnderTest) -> None:
    """The worker keeps writing without a daemon, and the next daemon reattaches."""
    run_id = daemon.submit(steps=1_000_000, rate=1000)
    daemon.until(run_id, RunState.RUNNING)
    assert daemon.stop() == 0
    spool = daemon.run(run_id).spool
    before = spool.stat().st_size
    eventually(lambda: spool.stat().st_size > before)
    daemon.restart()
    assert daemon.record(run_id).state == "running"
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    assert daemon.until(run_id).state == "cancelled"


def test_only_the_owner_can_read_the_home(daemon: DaemonUnderTest) -> None:
    """Folders have mode 0700; token, endpoint, lock, registry and logs have mode 0600."""
    home = daemon.home
    for folder in (home.path, home.trainer, home.logs, home.runs):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    for file in (home.token, home.endpoint, home.daemon_lock, home.registry):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    for file in home.logs.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_the_token_is_new_at_each_start(daemon: DaemonUnderTest) -> None:
    """An old token is rejected after a restart."""
    old = daemon.token
    daemon.restart()
    assert daemon.token != old
    assert stat.S_IMODE(daemon.home.token.stat().st_mode) == 0o600
    with grpc.insecure_channel(daemon.address) as channel:
        stub = TrainerServiceStub(channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.GetHealth(pb.GetHealthRequest(), metadata=(("authorization", f"Bearer {old}"),))
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.fixture
def used_port() -> Iterator[int]:
    """A port on which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_requested_port_in_use(tmp_path: Path, used_port: int) -> None:
    """The error has the port and a remedy; no other port is used."""
    daemon = DaemonUnderTest(tmp_path)
    error = daemon.start_error(port=str(used_port))
    assert str(used_port) in error["message"]
    assert "--port" in error["remedy"]
    assert not daemon.home.endpoint.exists()


def test_the_default_port_in_use(tmp_path: Path) -> None:
    """A free port is used instead; clients find it in the endpoint file."""
    try:
        listener: socket.socket | None = socket.create_server(("127.0.0.1", DEFAULT_PORT))
    except OSError:
        listener = None  # another program already uses it
    daemon = DaemonUnderTest(tmp_path)
    try:
        assert daemon.start("--host", "localhost", port=None).startswith("ready ")
        assert daemon.address != f"127.0.0.1:{DEFAULT_PORT}"
        assert daemon.stub.GetHealth(pb.GetHealthRequest()).address == daemon.address
    finally:
        daemon.clean_up()
        if listener is not None:
            listener.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104
def test_other_machines_only_with_tls(tmp_path: Path, host: str) -> None:
    """Without TLS the token could be intercepted, so the daemon does not start."""
    error = DaemonUnderTest(tmp_path).start_error("--host", host)
    assert "TLS" in error["message"]
    assert "--tls-certificate" in error["remedy"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "::1"])
def test_every_spelling_of_loopback(tmp_path: Path, host: str) -> None:
    """Loopback names and addresses need no TLS."""
    if host == "::1" and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    daemon = DaemonUnderTest(tmp_path)
    try:
        assert daemon.start("--host", host).startswith("ready ")
        assert daemon.stub.GetHealth(pb.GetHealthRequest()).address == daemon.address
    finally:
        daemon.clean_up()


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_invalid_settings_are_reported(tmp_path: Path) -> None:
    """The error is reported to the parent process, so that `daemon start` can show it."""
    daemon = DaemonUnderTest(tmp_path)
    daemon.home.trainer.mkdir(parents=True)
    daemon.home.settings.write_text("max_runs = 0\n")
    error = daemon.start_error()
    assert "max_runs" in error["message"]
    assert error["code"] == "T301"


def test_a_home_that_cannot_be_created(tmp_path: Path) -> None:
    """The error names the file that is not a folder and has a remedy."""
    daemon = DaemonUnderTest(tmp_path)
    daemon.home.path.write_text("not a folder")
    error = daemon.start_error()
    assert str(daemon.home.path) in error["message"]
    assert "--home" in error["remedy"]


def test_a_foreground_daemon_logs_to_stderr(tmp_path: Path) -> None:
    """`daemon run` logs to stderr and exits with 0 on SIGTERM."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mosaic.trainer.daemon", "--home", str(tmp_path), "--port", "0"],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stderr is not None
    with process.stderr as stderr:
        first = stderr.readline().decode()
        process.terminate()
        rest = stderr.read().decode()
    assert process.wait(60) == 0
    assert "T395" in first
    assert "T396" in rest


def test_the_open_file_limit_is_raised(tmp_path: Path) -> None:
    """A low soft limit does not limit the number of runs and streams."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    under_test = DaemonUnderTest(tmp_path)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        under_test.start()
        now, _ = resource.prlimit(under_test.pid, resource.RLIMIT_NOFILE)
        assert now == min(hard, 65_536)
        assert "T359" in (under_test.home.logs / "daemon.log").read_text()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        under_test.clean_up()
