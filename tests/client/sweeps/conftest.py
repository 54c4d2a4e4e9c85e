"""A real daemon with the sweep worker's bundle and a worker with a known score."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.client import TrainerClient
from mosaic.client.sweeps.space_input import parse_search_options
from mosaic.client.sweeps.study import Study, StudyError, read_study
from mosaic.client.sweeps.sweep_plan import make_sweep_config
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.runs import RunRecord
from tests.support.daemon import DaemonUnderTest

WORKERS = Path(__file__).parent / "workers"
TIMEOUT_S = 100.0

GiveBundles = Callable[..., None]


@pytest.fixture
def daemon(tmp_path: Path, give_bundles: GiveBundles) -> Iterator[DaemonUnderTest]:
    """A daemon that a test may kill."""
    yield from _run_daemon(tmp_path, give_bundles)


@pytest.fixture(scope="module")
def client(
    tmp_path_factory: pytest.TempPathFactory, give_bundles: GiveBundles
) -> Iterator[TrainerClient]:
    """A client of a daemon for tests that do not change each other's runs."""
    for under_test in _run_daemon(tmp_path_factory.mktemp("sweeps"), give_bundles):
        with TrainerClient.connect(under_test.home) as connected:
            yield connected


@pytest.fixture(scope="session")
def sweep_python(installed_bundle: Callable[[str], Path]) -> Path:
    """The Python of the sweep worker's bundle, which has Optuna."""
    venvs = installed_bundle("sweep_worker")
    newest = max(venvs.glob("sweep_worker-*"), key=lambda folder: folder.stat().st_mtime)
    return newest / "bin" / "python"


def prepare_home(home: Home, give_bundles: GiveBundles) -> None:
    """Prepare a home for sweeps with several concurrent runs."""
    give_bundles(home, "sweep_worker")
    home.settings.write_text(f"worker_folders = [{json.dumps(str(WORKERS))}]\ncpus = 8\n")


def slope_sweep(
    client: TrainerClient, *searches: str, fixed: dict[str, Any] | None = None, **params: Any
) -> TrainRunConfig:
    """Return a sweep of the slope worker that optimizes the last score."""
    algorithm = client.describe("slope_worker").algorithms[0]
    base = {"worker": "slope_worker", "algo": "slope", "env_id": "Slope-v0", "params": fixed or {}}
    return make_sweep_config(
        load_run_config(base),
        parse_search_options(searches, algorithm.parameters),
        {"metric": "score", "summary": "last", "sampler": "grid", "pruner": "none", **params},
    )


def home_of(client: TrainerClient) -> Home:
    assert client.home is not None
    return client.home


def study_of(client: TrainerClient, run_id: str) -> Study:
    """Return the current study, also during the sweep; without trials if there is none yet."""
    path = home_of(client).run(run_id).study
    try:
        return read_study(path)
    except StudyError:
        return Study(name="", directions=(), trials=())


def children(client: TrainerClient, run_id: str) -> list[RunRecord]:
    """Return the runs of a sweep, oldest first."""
    return [*client.runs(parent_run=run_id)][::-1]


def _run_daemon(folder: Path, give_bundles: GiveBundles) -> Iterator[DaemonUnderTest]:
    under_test = DaemonUnderTest(folder)
    prepare_home(under_test.home, give_bundles)
    try:
        line = under_test.start()
        assert line.startswith("ready "), line
        yield under_test
    finally:
        under_test.clean_up()
