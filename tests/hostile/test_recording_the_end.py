"""The end of a run is recorded for any reported values."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs import run_monitor
from mosaic.trainer.runs.ingest_pool import IngestPool
from mosaic.trainer.runs.run_monitor import RunMonitor
from mosaic.trainer.runs.run_stats import RunStatsBuilder
from tests.support.daemon import DaemonUnderTest

CONFIG = b'{"worker": "hostile", "algo": "none", "env_id": "None-v0"}'


@pytest.mark.process
def test_returns_whose_sum_overflows(
    daemon: DaemonUnderTest, submit_attack: Callable[[str], str]
) -> None:
    """The run ends, and the mean of its returns is their mean."""
    record = daemon.until(submit_attack("overflow"))
    assert record.state == "succeeded"
    assert math.isclose(record.digest.mean_return, 1.7e308)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[RunRegistry]:
    registry = RunRegistry(tmp_path / "trainer.db")
    yield registry
    registry.close()


@pytest.fixture
def ingest() -> Iterator[IngestPool]:
    pool = IngestPool(lambda _: None)
    yield pool
    pool.close()


def _fail(*_: object, **__: object) -> None:
    raise OverflowError("a bug")


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (RunStatsBuilder, "update"),
        (run_monitor, "scan_artifacts"),
        (run_monitor, "size_of_run"),
        (RunRegistry, "set_manifest"),
        (RunRegistry, "set_digests"),
    ],
)
def test_a_bug_in_the_statistics_becomes_a_warning(
    tmp_path: Path,
    registry: RunRegistry,
    ingest: IngestPool,
    monkeypatch: pytest.MonkeyPatch,
    owner: object,
    name: str,
) -> None:
    """Exceptions of statistics, manifest and artifact scan do not prevent recording the end."""
    config = load_run_config(CONFIG)
    run = Home(tmp_path).run(new_ulid())
    run.path.mkdir(parents=True)
    registry.add(run.run_id, config)
    monitor = RunMonitor(run, config, registry, ingest, 60.0, str)
    monkeypatch.setattr(owner, name, _fail)
    monitor.record_final()
    monitor.close()
    assert any("a bug" in warning for warning in registry.get(run.run_id).warnings)
