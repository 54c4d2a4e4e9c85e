"""Finding, starting and stopping the daemon, and the errors if that fails."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.daemon_process import probe, start_daemon, stop_daemon
from mosaic.client.errors import (
    DaemonStartError,
    DaemonUnreachableError,
    InvalidTokenError,
    TrainerError,
)
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.layout import Home
from mosaic.contract.process_identity import read_stat
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


def test_missing_daemon_has_remedy(tmp_path: Path) -> None:
    """The error contains the home and how to start a daemon."""
    with pytest.raises(DaemonUnreachableError) as raised:
        TrainerClient.connect(tmp_path)
    assert str(tmp_path) in raised.value.message
    assert "mosaic daemon start" in raised.value.remedy


def test_killed_daemon_is_unreachable(daemon: DaemonUnderTest) -> None:
    """A stale endpoint.json is ignored."""
    daemon.kill()
    assert daemon.home.endpoint.exists()
    with pytest.raises(DaemonUnreachableError):
        TrainerClient.connect(daemon.home)
    assert stop_daemon(daemon.home) is None


def test_connect_starts_daemon_and_stop_waits_for_exit(tmp_path: Path) -> None:
    """It has its own session, and after the stop its process has exited."""
    home = Home(tmp_path / "new home")
    try:
        with TrainerClient.connect(home, start=True) as client:
            pid = client.health().pid
            assert os.getsid(pid) == pid
        assert stop_daemon(home) == 0
        process = read_stat(pid)
        assert process is None or process.is_dead
        assert stop_daemon(home) is None
    finally:
        DaemonUnderTest(tmp_path).clean_up()


def test_concurrent_starts_get_the_same_daemon(tmp_path: Path) -> None:
    """No start fails, in any order."""
    home = Home(tmp_path / "home")
    try:
        with ThreadPoolExecutor(3) as pool:
            pids = {health.pid for health in pool.map(start_daemon, [home] * 3)}
        assert len(pids) == 1
    finally:
        DaemonUnderTest(tmp_path).clean_up()


def test_start_failure_is_reported(tmp_path: Path) -> None:
    """The daemon's own error reaches the caller."""
    home = Home(tmp_path)
    home.trainer.mkdir()
    home.settings.write_text("prot = 1\n")
    with pytest.raises(DaemonStartError) as raised:
        start_daemon(home)
    assert "prot" in raised.value.message
    assert "settings.toml" in raised.value.remedy
    assert probe(home) is None


def test_home_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    """The remedy is the option for another home."""
    (tmp_path / "file").touch()
    with pytest.raises(DaemonStartError, match="cannot be created") as raised:
        start_daemon(Home(tmp_path / "file" / "home"))
    assert "--home" in raised.value.remedy


def test_hanging_daemon_is_stopped_by_signal(daemon: DaemonUnderTest) -> None:
    """A daemon that cannot be reached at its address is stopped, too."""
    endpoint = Endpoint.read(daemon.home.endpoint)
    assert endpoint is not None
    Endpoint(
        address="127.0.0.1:9",
        pid=endpoint.pid,
        start_ticks=endpoint.start_ticks,
        boot_id=endpoint.boot_id,
        version=endpoint.version,
        started_at=endpoint.started_at,
    ).write(daemon.home.endpoint)
    assert stop_daemon(daemon.home) == 0
    assert daemon.wait() == 0


def test_connect_with_address_and_token(daemon: DaemonUnderTest) -> None:
    """As for a daemon with a home on another machine."""
    with TrainerClient(daemon.address, daemon.token) as client:
        assert client.health().address == daemon.address


def test_invalid_token_differs_from_missing_daemon(daemon: DaemonUnderTest) -> None:
    """The remedy is the path of the token."""
    with (
        TrainerClient(daemon.address, "wrong") as client,
        pytest.raises(InvalidTokenError) as raised,
    ):
        client.health()
    assert "trainer/token" in raised.value.remedy
    assert raised.value.status == "UNAUTHENTICATED"


@pytest.mark.parametrize("address", ["example.org:50055", "192.0.2.7:50055"])
def test_token_is_never_sent_without_tls(address: str) -> None:
    """Another machine needs a certificate."""
    with pytest.raises(TrainerError, match="certificate"):
        TrainerClient(address, "token")


def test_daemon_errors_keep_code_remedy_and_status(client: TrainerClient) -> None:
    """The client's exception has all of them."""
    with pytest.raises(TrainerError) as raised:
        client.run("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    error = raised.value
    assert error.status == "NOT_FOUND"
    assert error.code.startswith("T")
    assert "01ARZ3NDEKTSV4RRFFQ69G5FAV" in error.message
    assert error.remedy


def test_closed_client_raises(client: TrainerClient) -> None:
    """Instead of hanging or connecting again."""
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.health()
