"""A home with test workers on a fake machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mosaic.contract.descriptor import WorkerDescriptor, decode_descriptor
from mosaic.contract.layout import Home
from mosaic.contract.readiness import CheckStatus, PreflightItem, PreflightReport
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.worker_manifest import WorkerManifest
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.preflight.checks import Candidate
from mosaic.trainer.preflight.preflight_report import Preflight
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.secrets import Secrets
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from tests.trainer.machine.conftest import FakeMachine

WORKER = "toy_worker"
MEMINFO = "MemTotal: 16384000 kB\nMemAvailable: 8192000 kB\n"


def config(**fields: Any) -> TrainRunConfig:
    """Return a run configuration of the toy worker."""
    return load_run_config({"worker": WORKER, "algo": "ppo", "env_id": "CartPole-v1"} | fields)


def descriptor(**fields: Any) -> WorkerDescriptor:
    """Return the descriptor of the toy worker."""
    document = {
        "worker": WORKER,
        "version": "1.2",
        "modes": ["train"],
        "algorithms": [{"id": "ppo", "label": "PPO"}],
        "environments": {"any": True},
    }
    return decode_descriptor(json.dumps(document | fields).encode())


def candidate(requested: TrainRunConfig | None = None, **described: Any) -> Candidate:
    """Return a candidate of the toy worker for a single check."""
    manifest = WorkerManifest(id=WORKER, label="Toy", module=WORKER, bundle="toy_bundle")
    return Candidate(requested or config(), manifest, descriptor(**described))


def only(items: Iterator[PreflightItem]) -> PreflightItem:
    (item,) = items
    return item


def status_of(report: PreflightReport, check: str) -> CheckStatus:
    """Return the status of the only item of `check`."""
    return item_of(report, check).status


def item_of(report: PreflightReport, check: str) -> PreflightItem:
    return only(item for item in report.items if item.check == check)


class PreflightSandbox:
    """All inputs of a preflight report."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = Home(root / "var")
        self.home.trainer.mkdir(parents=True)
        (root / "machine").mkdir()
        self.fake_machine = FakeMachine(root / "machine")
        self.fake_machine.put("proc/meminfo", MEMINFO)
        self.environ: dict[str, str] = {"PATH": "/usr/bin:/bin", "HOME": str(root)}
        self.workers = root / "workers"
        self.requirements = root / "requirements"
        self.requirements.mkdir()
        self.catalog = WorkerCatalog([self.workers], search_path=[])
        self.bundles = BundleStore(self.home, self.catalog, requirements=self.requirements)
        self.registry = RunRegistry(self.home.registry)

    def put_worker(
        self, manifest: str = "", package: str = "", main: str = "", **described: Any
    ) -> None:
        """Write a worker without the SDK that prints its descriptor or runs `main`."""
        folder = self.workers / WORKER
        code = folder / "src" / WORKER
        code.mkdir(parents=True)
        (folder / "worker.toml").write_text(
            f'id = "{WORKER}"\nlabel = "Toy"\nmodule = "{WORKER}"\n{manifest}\n'
        )
        description = repr(msgspec.json.encode(descriptor(**described)).decode())
        (code / "__init__.py").write_text(package)
        describe = f"if '--describe' in sys.argv:\n    print({description})\n    sys.exit()"
        (code / "__main__.py").write_text(f"import sys\n{describe}\n{main}\n")

    def report(
        self, requested: TrainRunConfig | None = None, settings: DaemonSettings | None = None
    ) -> PreflightReport:
        preflight = Preflight(
            self.home,
            self.catalog,
            self.bundles,
            self.fake_machine.machine(),
            self.registry,
            Secrets(self.home, None, environ=self.environ),
            settings or DaemonSettings(cpus=8),
            environ=self.environ,
        )
        return preflight.report(requested or config())


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[PreflightSandbox]:
    sandbox = PreflightSandbox(tmp_path)
    with sandbox.registry:
        yield sandbox


@pytest.fixture
def fake(tmp_path: Path) -> FakeMachine:
    machine = FakeMachine(tmp_path)
    machine.put("proc/meminfo", MEMINFO)
    return machine
