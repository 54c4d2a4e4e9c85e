"""Which Python and code a replay uses if those of its run have changed."""

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


class BundledWorker:
    """A worker with its own bundle, whose requirements a test may change."""

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
        """Create the environment for the current requirements, with the test packages."""
        (missing,) = [
            info
            for info in self._client.bundles()
            if info.name == self.name and info.state == "missing"
        ]
        return fake_environment(self.home, self.name, missing.hash)

    @property
    def code(self) -> Path:
        """The copy of its code that its run uses."""
        (copy,) = self.home.worker_code.glob(f"{self.name}-*")
        return copy

    def record(self) -> str:
        return record_run(self._client, ODD, worker=self.name)


def fake_environment(home: Home, name: str, bundle_hash: str) -> Path:
    """Create the files of an installed environment without installing anything.

    It is renamed when complete, because the daemon removes incomplete environments.
    """
    path = home.path / "building" / f"{name}-{bundle_hash}"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    (site,) = path.glob("lib/*/site-packages")
    (site / "test_packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    ready = {
        "name": name,
        "hash": bundle_hash,
        "python": ".".join(map(str, sys.version_info[:3])),
        "created_at": time.time(),
    }
    (path / "ready.json").write_text(json.dumps(ready))
    home.venvs.mkdir(exist_ok=True)
    return path.rename(home.venvs / path.name)


def replay(client: TrainerClient, run_id: str) -> SimulationOpened:
    """Verify the replay of an episode and return its opening message."""
    with client.resimulate(run_id, 0, verify_only=True) as simulation:
        last = list(simulation)[-1]
        assert last == SimulationChecked(steps=20, is_over=True)
        return simulation.opened


@pytest.fixture
def worker(
    daemon: DaemonUnderTest, client: TrainerClient, request: pytest.FixtureRequest
) -> BundledWorker:
    """A separate worker for each test."""
    return BundledWorker(request.node.name.removeprefix("test_"), daemon, client)


def test_a_missing_bundle(client: TrainerClient, worker: BundledWorker) -> None:
    """The remedy names the command that installs it; after that the replay works."""
    bundle = worker.install()
    run_id = worker.record()
    assert replay(client, run_id).warnings == ()
    shutil.rmtree(bundle)
    with client.resimulate(run_id, 0) as simulation, pytest.raises(TrainerError) as caught:
        _ = simulation.opened
    assert caught.value.code == "T411"
    assert caught.value.status == "FAILED_PRECONDITION"
    assert f"mosaic bundles install {worker.name}" in caught.value.remedy
    worker.install()
    assert replay(client, run_id).warnings == ()


def test_a_bundle_with_other_requirements(client: TrainerClient, worker: BundledWorker) -> None:
    """If only the current bundle is installed, it is used with a warning that names both."""
    before = worker.install()
    run_id = worker.record()
    shutil.rmtree(before)
    worker.require("# something else\nother==1\n")
    current = worker.install()
    (warning,) = replay(client, run_id).warnings
    assert before.name in warning
    assert current.name in warning


def test_a_run_keeps_its_bundle_and_code(client: TrainerClient, worker: BundledWorker) -> None:
    """New requirements and an edited worker do not affect the replay of an old run."""
    worker.install()
    run_id = worker.record()
    worker.require("other==1\n")
    environment = worker.folder / "src" / "odd_environments.py"
    environment.write_text("raise SystemExit('edited')\n")
    assert replay(client, run_id).warnings == ()


def test_missing_code(client: TrainerClient, worker: BundledWorker) -> None:
    """The current code of the worker is used with a warning."""
    worker.install()
    run_id = worker.record()
    shutil.rmtree(worker.code)
    (warning,) = replay(client, run_id).warnings
    assert "code" in warning


def test_code_with_an_old_sdk(client: TrainerClient, worker: BundledWorker) -> None:
    """The current SDK is used if the old copy has no replay; the worker code is unchanged."""
    worker.install()
    run_id = worker.record()
    shutil.rmtree(worker.code / "mosaic_worker" / "resimulation")
    (worker.folder / "src" / "odd_environments.py").write_text("raise SystemExit('edited')\n")
    assert replay(client, run_id).warnings == ()


def test_changed_packages(client: TrainerClient, worker: BundledWorker) -> None:
    """The warning names each changed package with both versions."""
    bundle = worker.install()
    run_id = worker.record()
    (site,) = bundle.glob("lib/*/site-packages")
    metadata = site / "gymnasium-0.0.1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: gymnasium\nVersion: 0.0.1\n")
    (warning,) = replay(client, run_id).warnings
    assert f"gymnasium {version('gymnasium')} recorded, 0.0.1 installed" in warning


def test_python_path_of_an_imported_run(client: TrainerClient, tmp_path: Path) -> None:
    """`python_path` is used for local runs, never for imported ones."""
    own = tmp_path / "own"
    own.mkdir()
    marker = own / "marker"
    (own / "sitecustomize.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    run_id = record_run(client, ODD, python_path=[str(own)])
    marker.unlink()
    assert replay(client, run_id).warnings == ()
    marker.unlink()
    archive = tmp_path / "run.tar.gz"
    client.export_run(run_id, archive)
    client.delete(run_id)
    client.import_run(archive)
    (warning,) = replay(client, run_id).warnings
    assert "was imported" in warning
    assert str(own) in warning
    assert not marker.exists()
