"""A home on a disk that fills up, with a real file system of a few megabytes."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process


@pytest.fixture
def small_disk() -> Iterator[Path]:
    disk = Path(tempfile.mkdtemp(prefix="disk-"))  # short, for the path of the daemon's socket
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "mosaic-test", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not allowed here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)
    disk.rmdir()


def test_a_full_disk_delays_and_loses_nothing(small_disk: Path) -> None:
    """The daemon stays up and says what is wrong; when there is room again, the run ends whole."""
    daemon = DaemonUnderTest(small_disk, ("--min-free-disk-mb", "1"))
    ballast = small_disk / "ballast"
    try:
        daemon.start()
        daemon.until(daemon.submit(steps=1), RunState.SUCCEEDED)
        run_id = daemon.submit(steps=2000, rate=400)
        eventually(lambda: daemon.record(run_id).digest.steps > 0)
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        health = daemon.stub.GetHealth(pb.GetHealthRequest())
        assert health.disk_free_bytes < 1 << 20
        waiting = eventually(lambda: _try_submit(daemon))
        ballast.unlink()
        record = daemon.until(run_id)
        assert record.state in ("succeeded", "failed")
        assert record.digest.committed_bytes == daemon.run(run_id).spool.stat().st_size
        if waiting != "refused":
            assert daemon.until(waiting).state in ("succeeded", "failed")
        assert daemon.until(daemon.submit(steps=3), RunState.SUCCEEDED).digest.steps == 3
    finally:
        ballast.unlink(missing_ok=True)
        daemon.clean_up()


def test_a_daemon_starts_on_a_full_disk(small_disk: Path) -> None:
    """It releases its reserve, so that runs can be deleted through it to free more."""
    daemon = DaemonUnderTest(small_disk, ("--min-free-disk-mb", "1"))
    ballast = small_disk / "ballast"
    try:
        daemon.start()
        run_id = daemon.submit(steps=1)
        daemon.until(run_id, RunState.SUCCEEDED)
        daemon.stop()
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        assert daemon.start().startswith("ready ")
        daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
        assert not daemon.run(run_id).path.exists()
        daemon.stop()
        ballast.unlink()
        daemon.restart()
        assert daemon.home.disk_reserve.stat().st_size
    finally:
        ballast.unlink(missing_ok=True)
        daemon.clean_up()


def _try_submit(daemon: DaemonUnderTest) -> str:
    """A run that waits for room, or a refusal that names the disk."""
    try:
        return daemon.submit(steps=1)
    except grpc.RpcError as error:
        rejection = str(error)
    assert "disk" in rejection or "space" in rejection, rejection
    return "refused"
