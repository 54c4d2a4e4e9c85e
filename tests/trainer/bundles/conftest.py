"""A home, workers with requirements, and a pip that knows nothing but tiny local packages."""

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


class Workshop:
    """Where a test writes workers and requirements, and the store that serves them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / "home")
        self.workers = folder / "workers"
        self.requirements = folder / "requirements"
        self.wheels = folder / "wheels"
        for made in (self.workers, self.requirements, self.wheels):
            made.mkdir(exist_ok=True)
        self.store = self.another_store()
        self.progress: list[InstallProgress] = []

    def another_store(self) -> BundleStore:
        """As another process, or the next daemon, has it."""
        catalog = WorkerCatalog((self.workers,), search_path=[])
        return BundleStore(self.home, catalog, requirements=self.requirements)

    def add_worker(self, worker_id: str = "lake", *, requires: str = "") -> Path:
        """A worker with a bundle of its own name; returns its package."""
        self.require(requires, worker_id)
        main = f"import json, sys\nprint('{worker_id} runs with', sys.argv[1:])\n"
        return write_worker(self.workers, worker_id, main=main, bundle=worker_id)

    def require(self, lines: str, name: str = "lake") -> None:
        (self.requirements / f"{name}.txt").write_text(lines)

    def environments(self) -> list[str]:
        """What lies in the folder of environments, leftovers included."""
        if not self.home.venvs.exists():
            return []
        return sorted(path.name for path in self.home.venvs.iterdir() if path.is_dir())

    @property
    def phases(self) -> list[str]:
        return list(dict.fromkeys(progress.phase for progress in self.progress))


@pytest.fixture(autouse=True)
def only_local_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip looks into the test's folder of wheels, and nowhere else."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip-cache"))


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    made = Workshop(tmp_path)
    write_wheel(made.wheels, "ice")
    return made


def eventually(condition: Callable[[], object]) -> None:
    """Waits until a condition holds, and fails when it does not within a generous limit."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)
