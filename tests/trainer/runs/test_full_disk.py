"""A home on a full disk, using a real file system of a few megabytes."""

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
    disk = Path(tempfile.mkdtemp(prefix="disk-"))  # the path of a Unix socket must be short
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "mosaic-test", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a tmpfs")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)
    disk.rmdir()


def test_a_full_disk_loses_no_data(small_disk: Path) -> None:
    """The daemon keeps running and reports the problem; with free space the run is complete."""
    daemon = DaemonUnderTest(small_disk, ("--min-free-disk-mb", "1"))
    filler = small_disk / "filler"
    try:
        daemon.start()
        daemon.until(daemon.submit(steps=1), RunState.SUCCEEDED)
        run_id = daemon.submit(steps=2000, rate=400)
        eventually(lambda: daemon.record(run_id).digest.steps > 0)
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        health = daemon.stub.GetHealth(pb.GetHealthRequest())
        assert health.disk_free_bytes < 1 << 20
        waiting = eventually(lambda: _try_submit(daemon))
        filler.unlink()
        record = daemon.until(run_id)
        assert record.state in ("succeeded", "failed")
        assert record.digest.committed_bytes == daemon.run(run_id).spool.stat().st_size
        if waiting != "rejected":
            assert daemon.until(waiting).state in ("succeeded", "failed")
        assert daemon.until(daemon.submit(steps=3), RunState.SUCCEEDED).digest.steps == 3
    finally:
        filler.unlink(missing_ok=True)
        daemon.clean_up()


def test_a_daemon_starts_on_a_full_disk(small_disk: Path) -> None:
    """It releases its disk reserve, so that runs can be deleted."""
    daemon = DaemonUnderTest(small_disk, ("--min-free-disk-mb", "1"))
    filler = small_disk / "filler"
    try:
        daemon.start()
        run_id = daemon.submit(steps=1)
        daemon.until(run_id, RunState.SUCCEEDED)
        daemon.stop()
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        assert daemon.start().startswith("ready ")
        daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
        assert not daemon.run(run_id).path.exists()
        daemon.stop()
        filler.unlink()
        daemon.restart()
        assert daemon.home.disk_reserve.stat().st_size
    finally:
        filler.unlink(missing_ok=True)
        daemon.clean_up()


def _try_submit(daemon: DaemonUnderTest) -> str:
    """Submit a run; it is queued, or rejected with an error that names the disk."""
    try:
        return daemon.submit(steps=1)
    except grpc.RpcError as error:
        message = str(error)
    assert "disk" in message or "space" in message, message
    return "rejected"
