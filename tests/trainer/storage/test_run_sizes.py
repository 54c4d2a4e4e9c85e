"""Disk usage of runs."""

from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.usage import measure_unmeasured_runs

_CONFIG = TrainRunConfig(worker="echo_worker", algo="echo", env_id="Echo-v0")


@pytest.mark.parametrize(
    ("state", "expected"), [(RunState.SUCCEEDED, 1500), (RunState.RUNNING, None)]
)
def test_runs_of_earlier_versions_are_measured(
    tmp_path: Path, state: RunState, expected: int | None
) -> None:
    """A finished run is measured once; an active run is measured elsewhere."""
    home, run_id = Home(tmp_path), new_ulid()
    run = home.run(run_id)
    (run.path / "videos").mkdir(parents=True)
    run.spool.write_bytes(b"x" * 500)
    (run.path / "videos" / "episode.mp4").write_bytes(b"x" * 1000)
    registry = RunRegistry(home.registry)
    try:
        registry.add(run_id, _CONFIG, state=state)
        assert registry.get(run_id).digest.disk_bytes is None
        measure_unmeasured_runs(home, registry)
        assert registry.get(run_id).digest.disk_bytes == expected
        assert (run_id in registry.unmeasured_run_ids()) is False
    finally:
        registry.close()
