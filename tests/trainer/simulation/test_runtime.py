"""Which Python and which code a replay uses when those of its run are no longer as they were."""

import json
import shutil
import subprocess
import sys
import sysconfig
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import TrainerError
from mosaic.client.resimulation import SimulationChecked, SimulationOpened
from mosaic.contract.layout import Home
from tests.support.daemon import DaemonUnderTest
from tests.trainer.simulation.conftest import record_run, write_recording_worker

pytestmark = pytest.mark.process

ODD = "odd_environments:Odd-v0"


class Lake:
    """A worker with a bundle of the same name, whose requirements a test may change."""

    def __init__(self, name: str, daemon: DaemonUnderTest, client: TrainerClient) -> None:
        self.name = name
        self.folder = daemon.folder / "workers" / name
        self.home = daemon.home
        self._client = client
        write_recording_worker(self.folder.parent, name, bundle=name)
        self.require("")

    def require(self, lines: str) -> None:
        (self.folder / "requirements.txt").write_text(lines)

    def install(self) -> Path:
        """The environment that the worker needs now, with the packages of the tests."""
        (missing,) = [
            info
            for info in self._client.bundles()
            if info.name == self.name and info.state == "missing"
        ]
        return fake_environment(self.home, self.name, missing.hash)

    @property
    def code(self) -> Path:
        """The copy of its code that its one run has."""
        (copied,) = self.home.worker_code.glob(f"{self.name}-*")
        return copied

    def record(self) -> str:
        return record_run(self._client, ODD, worker=self.name)


def fake_environment(home: Home, name: str, bundle_hash: str) -> Path:
    """What an installation leaves behind, without installing anything.

    It appears complete: the daemon removes environments that are not.
    """
    path = home.path / "building" / f"{name}-{bundle_hash}"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    (site,) = path.glob("lib/*/site-packages")
    (site / "of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    ready = {
        "name": name,
        "hash": bundle_hash,
        "python": ".".join(map(str, sys.version_info[:3])),
        "created_at": time.time(),
    }
    (path / "ready.json").write_text(json.dumps(ready))
    home.venvs.mkdir(exist_ok=True)
    return path.rename(home.venvs / path.name)


def replayed(client: TrainerClient, run_id: str) -> SimulationOpened:
    """What was said at its opening; all of it came out as recorded."""
    with client.resimulate(run_id, 0, verify_only=True) as simulation:
        last = list(simulation)[-1]
        assert last == SimulationChecked(steps=20, is_over=True)
        return simulation.opened


@pytest.fixture
def lake(daemon: DaemonUnderTest, client: TrainerClient, request: pytest.FixtureRequest) -> Lake:
    """One of its own for each test."""
    return Lake(request.node.name.removeprefix("test_"), daemon, client)


def test_a_bundle_that_is_gone(client: TrainerClient, lake: Lake) -> None:
    """The message names the command that installs it; after that the episode can be replayed."""
    bundle = lake.install()
    run_id = lake.record()
    assert replayed(client, run_id).warnings == ()
    shutil.rmtree(bundle)
    with client.resimulate(run_id, 0) as simulation, pytest.raises(TrainerError) as caught:
        _ = simulation.opened
    assert caught.value.code == "T411"
    assert caught.value.status == "FAILED_PRECONDITION"
    assert f"mosaic bundles install {lake.name}" in caught.value.remedy
    lake.install()
    assert replayed(client, run_id).warnings == ()


def test_a_bundle_of_other_requirements(client: TrainerClient, lake: Lake) -> None:
    """When only the present one is there, it is used, with a warning that names both."""
    before = lake.install()
    run_id = lake.record()
    shutil.rmtree(before)
    lake.require("# something else\nicicle==1\n")
    now = lake.install()
    (warning,) = replayed(client, run_id).warnings
    assert before.name in warning
    assert now.name in warning


def test_the_run_keeps_its_bundle_and_its_code(client: TrainerClient, lake: Lake) -> None:
    """Newer requirements and an edited worker do not change an old replay."""
    lake.install()
    run_id = lake.record()
    lake.require("icicle==1\n")
    environment = lake.folder / "src" / "odd_environments.py"
    environment.write_text("raise SystemExit('edited')\n")
    assert replayed(client, run_id).warnings == ()


def test_code_that_is_gone(client: TrainerClient, lake: Lake) -> None:
    """The worker as it is now takes its place, and the replay says so."""
    lake.install()
    run_id = lake.record()
    shutil.rmtree(lake.code)
    (warning,) = replayed(client, run_id).warnings
    assert "code" in warning


def test_code_of_a_time_before_replays(client: TrainerClient, lake: Lake) -> None:
    """An older copy of the SDK is helped out by the present one; the worker's code stays."""
    lake.install()
    run_id = lake.record()
    shutil.rmtree(lake.code / "mosaic_worker" / "resimulation")
    (lake.folder / "src" / "odd_environments.py").write_text("raise SystemExit('edited')\n")
    assert replayed(client, run_id).warnings == ()


def test_packages_that_have_changed(client: TrainerClient, lake: Lake) -> None:
    """Those that are not of the recorded version are named, with both versions."""
    bundle = lake.install()
    run_id = lake.record()
    (site,) = bundle.glob("lib/*/site-packages")
    metadata = site / "gymnasium-0.0.1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: gymnasium\nVersion: 0.0.1\n")
    (warning,) = replayed(client, run_id).warnings
    assert f"gymnasium {version('gymnasium')} recorded, 0.0.1 installed" in warning


def test_folders_that_an_archive_names(client: TrainerClient, tmp_path: Path) -> None:
    """Code of one's own is used for runs that were made here, never for one that was imported."""
    own = tmp_path / "own"
    own.mkdir()
    ran = own / "ran"
    (own / "sitecustomize.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    run_id = record_run(client, ODD, python_path=[str(own)])
    ran.unlink()
    assert replayed(client, run_id).warnings == ()
    ran.unlink()
    archive = tmp_path / "run.tar.gz"
    client.export_run(run_id, archive)
    client.delete(run_id)
    client.import_run(archive)
    (warning,) = replayed(client, run_id).warnings
    assert "was imported" in warning
    assert str(own) in warning
    assert not ran.exists()
