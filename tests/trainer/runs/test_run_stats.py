"""Statistics of a run, built from its telemetry."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.telemetry.service import TelemetryService
from mosaic.trainer.runs.run_stats import RunStatsBuilder


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    run = Home(tmp_path).run(new_ulid())
    run.path.mkdir(parents=True)
    return run


def _write_lines(run: RunDirectory, *events: dict[str, Any]) -> None:
    with run.spool.open("a") as spool:
        spool.writelines(json.dumps(event) + "\n" for event in events)
    with TelemetryService(run) as service:
        assert service.finish()


def _step(number: int, **fields: Any) -> dict[str, Any]:
    fixed = {"type": "step", "episode_id": "e", "action": 0, "reward": 1.0}
    return {**fixed, "step": number, "terminated": False, "truncated": False, **fields}


def test_a_run_without_telemetry(run: RunDirectory) -> None:
    """The digest is empty; no error is raised."""
    assert RunStatsBuilder(run, None).update().steps == 0


def test_returns_and_steps(run: RunDirectory) -> None:
    """Latest and mean return of finished episodes, and the time of the last step."""
    _write_lines(
        run,
        *({"type": "episode", "episode_id": f"e{n}", "steps": 1, "return": n} for n in range(4)),
        _step(0, t=1_700_000_000.5),
    )
    builder = RunStatsBuilder(run, None)
    digest = builder.update()
    builder.close()
    assert (digest.latest_return, digest.mean_return) == (3.0, 1.5)
    assert (digest.steps, digest.episodes) == (1, 5)
    assert digest.last_step_at == 1_700_000_000.5


def test_progress_reported_by_the_worker(run: RunDirectory) -> None:
    """The progress line of the worker takes precedence over counted steps."""
    _write_lines(
        run, _step(0), {"type": "progress", "done": 5, "total": 20, "unit": "updates", "eta_s": 3}
    )
    builder = RunStatsBuilder(run, 1000)
    digest = builder.update()
    builder.close()
    assert (digest.progress_done, digest.progress_total) == (5.0, 20.0)
    assert (digest.progress_unit, digest.eta_s) == ("updates", 3.0)


def test_progress_and_speed_counted(run: RunDirectory) -> None:
    """Without a progress line, speed and ETA are computed from `total_timesteps`."""
    clock = _Clock()
    builder = RunStatsBuilder(run, 100, clock)
    _write_lines(run, *(_step(n) for n in range(10)))
    builder.update()
    clock.now += 2.0
    _write_lines(run, *(_step(n) for n in range(10, 30)))
    digest = builder.update()
    builder.close()
    assert digest.sps == pytest.approx(10.0)
    assert digest.eta_s == pytest.approx(7.0)


def test_speed_of_a_run_with_progress_in_episodes(run: RunDirectory) -> None:
    """The speed is computed from steps, the ETA from episodes."""
    clock = _Clock()
    builder = RunStatsBuilder(run, None, clock)
    _write_lines(run, _step(0), {"type": "progress", "done": 1, "total": 21, "unit": "episodes"})
    builder.update()
    clock.now += 2.0
    steps = (_step(n) for n in range(1, 31))
    _write_lines(run, *steps, {"type": "progress", "done": 11, "total": 21, "unit": "episodes"})
    digest = builder.update()
    builder.close()
    assert digest.sps == pytest.approx(15.0)
    assert digest.eta_s == pytest.approx(2.0)


def test_invalid_numbers_are_ignored(run: RunDirectory) -> None:
    """NaN and infinite speeds, times and progress become `None`."""
    _write_lines(
        run,
        {"type": "heartbeat", "t": "NaN", "sps": "Infinity"},
        {"type": "progress", "done": "NaN", "total": 10, "unit": "x"},
        {"type": "episode", "episode_id": "e", "steps": 1, "return": "NaN"},
    )
    builder = RunStatsBuilder(run, None)
    digest = builder.update()
    builder.close()
    assert (digest.sps, digest.heartbeat_at, digest.progress_done) == (None, None, None)
    assert digest.mean_return is None
    assert digest.latest_return is not None
    assert math.isnan(digest.latest_return)


def test_lines_that_the_daemon_uses(run: RunDirectory) -> None:
    """The resolved configuration, artifacts in both formats, status and `bye`."""
    config = {"type": "config", "run_id": "r", "algo": "a", "env_id": "E", "args": {"x": 1}}
    _write_lines(
        run,
        config,
        {"type": "artifact", "kind": "checkpoint", "path": "checkpoints/a.bin"},
        {"event": "artifacts", "wandb_url": "https://example.org/run"},
        {"type": "status", "state": "paused"},
        {"type": "bye", "outcome": "failed", "error": "out of memory"},
    )
    builder = RunStatsBuilder(run, None)
    builder.update()
    builder.update()
    builder.close()
    assert json.loads(builder.resolved_config or b"") == config
    assert [(artifact.kind, artifact.path or artifact.url) for artifact in builder.artifacts] == [
        ("checkpoint", "checkpoints/a.bin"),
        ("wandb", "https://example.org/run"),
    ]
    assert builder.status is not None
    assert builder.status.state == "paused"
    assert builder.bye is not None
    assert builder.bye.error == "out of memory"
