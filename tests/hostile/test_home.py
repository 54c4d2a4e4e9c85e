"""The home: its path, its permissions, a lost registry, a full disk and concurrent deletions."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.presets import save_preset
from mosaic.contract.layout import Home, create_private_folder
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.support.daemon import DaemonUnderTest
from tests.support.mosaic_cli import Mosaic


@pytest.fixture
def open_umask() -> Iterator[None]:
    previous = os.umask(0)
    yield
    os.umask(previous)


@pytest.mark.usefixtures("open_umask")
def test_new_folders_of_the_home_are_private(tmp_path: Path) -> None:
    """For any umask; folders that existed before keep their permissions."""
    tmp_path.chmod(0o755)
    home = Home(tmp_path / "home")
    create_private_folder(home.exports / "tensorboard" / "run")
    save_preset(home, "best", {"worker": "echo_worker"})
    for folder in (home.path, home.exports, home.exports / "tensorboard", home.presets):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


@pytest.mark.process
def test_the_daemon_makes_folders_of_earlier_versions_private(tmp_path: Path) -> None:
    """They were created with the permissions of the user's other files."""
    daemon = DaemonUnderTest(tmp_path)
    home = daemon.home
    folders = (home.exports, home.cache, home.presets, home.logs)
    for folder in folders:
        folder.mkdir(parents=True)
        folder.chmod(0o755)
    try:
        assert daemon.start().startswith("ready ")
        for folder in folders:
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    finally:
        daemon.clean_up()


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "reason"), [(b"a:b", "':'"), (b"caf\xe9", "UTF-8")], ids=["separator", "not-utf8"]
)
def test_a_home_in_which_no_run_could_start_is_rejected(
    tmp_path: Path, name: bytes, reason: str
) -> None:
    """The daemon does not start and reports the reason, instead of failing in every run."""
    daemon = DaemonUnderTest(tmp_path / os.fsdecode(name))
    error = daemon.start_error()
    assert error["code"] == "T482"
    assert reason in error["message"]
    assert "--home" in error["remedy"]


@pytest.mark.process
def test_annotations_survive_a_lost_registry(daemon: DaemonUnderTest) -> None:
    """Name, note, tags and the archive flag; a file that a worker damaged is ignored."""
    with TrainerClient.connect(daemon.home) as client:
        ids = [daemon.submit(steps=3) for _ in range(2)]
        for run_id in ids:
            client.wait(run_id, timeout_s=60)
            client.rename(run_id, "my run")
            client.tag(run_id, "good", "v2")
            client.note(run_id, "first line\nsecond line")
    daemon.run(ids[1]).annotations.unlink()
    daemon.run(ids[1]).annotations.symlink_to("/dev/zero")
    daemon.stop()
    for file in daemon.home.trainer.glob("trainer.db*"):
        file.unlink()
    daemon.restart()
    with TrainerClient.connect(daemon.home) as client:
        record = client.run(ids[0]).run
        assert (record.name, record.tags) == ("my run", ("good", "v2"))
        assert record.note == "first line\nsecond line"
        assert client.run(ids[1]).run.tags == ()


@pytest.mark.process
def test_concurrent_deletions_return_the_same_result(daemon: DaemonUnderTest) -> None:
    """Every call returns the same result."""
    run_id = daemon.submit(steps=3)
    daemon.until(run_id)
    request = pb.DeleteRunRequest(run_id=run_id)
    calls = [daemon.stub.DeleteRun.future(request) for _ in range(8)]
    freed = {call.result(timeout=60).freed_bytes for call in calls}
    assert len(freed) == 1
    assert not daemon.run(run_id).path.exists()


@pytest.mark.process
def test_a_full_disk_is_shown_with_the_runs(tmp_path: Path) -> None:
    """`runs list` and `daemon status` report it; the JSON output is valid."""
    mosaic = Mosaic(tmp_path)
    try:
        mosaic.ok("daemon", "start", "--min-free-disk-mb", str(1 << 35))
        listed = mosaic("runs", "list", "--json")
        assert listed.returncode == 0
        assert '"runs"' in listed.stdout
        assert "The disk of the home has" in listed.stderr
        assert "no run starts" in mosaic("daemon", "status").stdout
    finally:
        mosaic.clean_up()
