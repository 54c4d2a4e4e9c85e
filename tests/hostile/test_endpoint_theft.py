"""The token is not sent to another local user who listens at the daemon's address."""

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import DaemonUnreachableError, UntrustedEndpointError
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.layout import Home
from mosaic.contract.process_identity import ProcessIdentity
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

OTHER_USER = 65534
"""The user `nobody`."""

needs_other_user = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can start a process as another user"
)

_BECOME_OTHER_USER = f"""
import os, socket, sys
os.setgroups([])
os.setgid({OTHER_USER})
os.setuid({OTHER_USER})
"""
_LISTENER = """
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    print("listening", flush=True)
    while True:
        connection, _ = listener.accept()
        if data := connection.recv(65536):
            print("received", data, flush=True)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose parents every user can enter, unlike pytest's `tmp_path`."""
    folder = Path(tempfile.mkdtemp(prefix="mosaic-hostile-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def _listener_of_other_user(path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of another user that listens at `path` and reports what it receives."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BECOME_OTHER_USER + _LISTENER, str(path)],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"listening\n"
        yield process
        assert not select.select([process.stdout], [], [], 0)[0], process.stdout.readline()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _home_with_endpoint(folder: Path, socket_path: Path, pid: int) -> Home:
    """A home whose endpoint file names this process and socket."""
    home = Home(folder / "home")
    home.token.write_text("x" * 43)
    process = ProcessIdentity.of(pid)
    assert process is not None
    Endpoint(
        address=f"unix:{socket_path.relative_to(home.path)}",
        pid=pid,
        start_ticks=process.start_ticks,
        boot_id=process.boot_id,
        version="0",
        started_at=0.0,
    ).write(home.endpoint)
    return home


def test_token_is_not_sent_to_the_port_of_a_killed_daemon(tmp_path: Path) -> None:
    """After kill -9 any user can listen on the port in endpoint.json."""
    daemon = DaemonUnderTest(tmp_path)
    try:
        assert daemon.start(port="0").startswith("ready ")
        with TrainerClient.connect(daemon.home) as client:
            client.health()
            daemon.kill()
            host, _, port = daemon.address.rpartition(":")
            with socket.create_server((host, int(port))) as impostor:
                with pytest.raises(DaemonUnreachableError):
                    client.run("01ARZ3NDEKTSV4RRFFQ69G5FAV")
                with pytest.raises(DaemonUnreachableError):
                    TrainerClient.connect(daemon.home)
                # The first channel may reconnect, but nothing is sent before a call is made.
                impostor.setblocking(False)
                for connection in _accepted(impostor):
                    assert daemon.token.encode() not in _received(connection)
    finally:
        daemon.clean_up()


def _accepted(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        with connection:
            yield connection


def _received(connection: socket.socket) -> bytes:
    connection.setblocking(False)
    try:
        return connection.recv(1 << 20)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("change", ["pid", "start_ticks", "boot_id"])
def test_endpoint_of_another_process_is_not_used(daemon: DaemonUnderTest, change: str) -> None:
    """Pid, start time and boot must all match: pids are reused after a reboot."""
    endpoint = Endpoint.read(daemon.home.endpoint)
    assert endpoint is not None
    changed = {"pid": os.getpid(), "start_ticks": endpoint.start_ticks + 1, "boot_id": "other"}
    original = daemon.home.endpoint.read_bytes()
    msgspec.structs.replace(endpoint, **{change: changed[change]}).write(daemon.home.endpoint)
    try:
        with pytest.raises(DaemonUnreachableError):
            TrainerClient.connect(daemon.home)
    finally:
        daemon.home.endpoint.write_bytes(original)


@needs_other_user
def test_socket_in_a_shared_folder_is_not_trusted(open_folder: Path) -> None:
    """Another user who can write to the folder can replace the socket."""
    home = Home(open_folder / "home")
    home.trainer.mkdir(parents=True)
    home.trainer.chmod(0o777)
    path = home.socket("0")
    with _listener_of_other_user(path) as listener:
        # The process in the file is this one; only the socket belongs to another user.
        home = _home_with_endpoint(open_folder, path, os.getpid())
        with pytest.raises(UntrustedEndpointError, match="Other users can replace"):
            TrainerClient.connect(home)
        home.trainer.chmod(0o755)
        with pytest.raises(UntrustedEndpointError, match=f"process {listener.pid}"):
            TrainerClient.connect(home)
        with (
            TrainerClient(f"unix:{path}", "x" * 43) as client,
            pytest.raises(UntrustedEndpointError, match=f"of user {OTHER_USER}"),
        ):
            client.health()


@needs_other_user
def test_process_of_another_user_is_not_the_daemon(open_folder: Path) -> None:
    """Even if it is the process in the endpoint file, and alive."""
    home = Home(open_folder / "home")
    home.trainer.mkdir(parents=True)
    home.trainer.chmod(0o777)
    with _listener_of_other_user(home.socket("0")) as listener:
        home.trainer.chmod(0o755)
        home = _home_with_endpoint(open_folder, home.socket("0"), listener.pid)
        with pytest.raises(DaemonUnreachableError):
            TrainerClient.connect(home)


@needs_other_user
def test_other_users_cannot_connect(open_folder: Path) -> None:
    """The kernel rejects them before any byte is read, even if the folder was open to all."""
    daemon = DaemonUnderTest(open_folder)
    daemon.home.trainer.mkdir(parents=True, mode=0o777)
    daemon.home.trainer.chmod(0o777)
    try:
        assert daemon.start().startswith("ready unix:")
        attempt = subprocess.run(
            [
                *(sys.executable, "-I", "-S", "-c"),
                _BECOME_OTHER_USER + "socket.socket(socket.AF_UNIX).connect(sys.argv[1])",
                daemon.address.removeprefix("unix:"),
            ],
            capture_output=True,
            check=False,
        )
        assert b"PermissionError" in attempt.stderr
        assert "T480" in (daemon.home.logs / "daemon.log").read_text()
    finally:
        daemon.clean_up()


def test_client_continues_after_a_restart_on_the_same_port(tmp_path: Path) -> None:
    """The token is new, and the client reads it again."""
    daemon = DaemonUnderTest(tmp_path)
    try:
        assert daemon.start(port="0").startswith("ready ")
        port = daemon.address.rpartition(":")[2]
        with TrainerClient.connect(daemon.home) as client:
            assert client.health().pid == daemon.pid
            daemon.stop()
            assert daemon.start(port=port).startswith("ready ")
            assert client.health().pid == daemon.pid
    finally:
        daemon.clean_up()


@pytest.mark.parametrize("name", ["x" * 200, "a b %41 é #?"], ids=["long", "special"])
def test_home_with_any_name_has_a_socket(tmp_path: Path, name: str) -> None:
    """A socket's path is limited to 107 bytes, and gRPC decodes `%41` in addresses."""
    daemon = DaemonUnderTest(tmp_path / name)
    try:
        assert daemon.start().startswith("ready unix:")
        with TrainerClient.connect(daemon.home) as client:
            assert client.health().pid == daemon.pid
    finally:
        daemon.clean_up()
