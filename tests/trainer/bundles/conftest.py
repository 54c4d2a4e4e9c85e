"""A home, workers with requirements, and a pip that uses only small local packages."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mosaic.contract.layout import Home
from mosaic.contract.readiness import InstallProgress
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from tests.trainer.bundles.tiny_packages import write_wheel
from tests.trainer.workers.worker_files import write_worker

TIMEOUT_S = 60.0


class Sandbox:
    """Folders for workers and requirements, and the bundle store that uses them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / "home")
        self.workers = folder / "workers"
        self.requirements = folder / "requirements"
        self.wheels = folder / "wheels"
        for path in (self.workers, self.requirements, self.wheels):
            path.mkdir(exist_ok=True)
        self.store = self.another_store()
        self.progress: list[InstallProgress] = []

    def another_store(self) -> BundleStore:
        """Create a second store, as in another process or the next daemon."""
        catalog = WorkerCatalog((self.workers,), search_path=[])
        return BundleStore(self.home, catalog, requirements=self.requirements)

    def add_worker(self, worker_id: str = "lake", *, requires: str = "") -> Path:
        """Add a worker with a bundle of the same name and return its package."""
        self.require(requires, worker_id)
        main = f"import json, sys\nprint('{worker_id} runs with', sys.argv[1:])\n"
        return write_worker(self.workers, worker_id, main=main, bundle=worker_id)

    def require(self, lines: str, name: str = "lake") -> None:
        (self.requirements / f"{name}.txt").write_text(lines)

    def environments(self) -> list[str]:
        """Return the names of all environment folders, including leftovers."""
        if not self.home.venvs.exists():
            return []
        return sorted(path.name for path in self.home.venvs.iterdir() if path.is_dir())

    @property
    def phases(self) -> list[str]:
        return list(dict.fromkeys(progress.phase for progress in self.progress))


@pytest.fixture(autouse=True)
def only_local_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip uses only the test's folder of wheels."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip-cache"))


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    write_wheel(sandbox.wheels, "ice")
    return sandbox


def eventually(condition: Callable[[], object]) -> None:
    """Wait until a condition is true; fail after a timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "timed out waiting for the condition"
        time.sleep(0.01)
