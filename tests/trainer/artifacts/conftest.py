"""A home with a minimal run and a run with every kind of file."""

import json
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.telemetry.service import TelemetryService

CONFIG = {"worker": "echo_worker", "algo": "echo", "env_id": "CartPole-v1", "seed": 7}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "var")


@pytest.fixture
def run(home: Home) -> RunDirectory:
    """A run directory that contains only the configuration."""
    directory = home.run(new_ulid())
    directory.path.mkdir(parents=True)
    directory.config.write_text(json.dumps(CONFIG))
    return directory


@pytest.fixture
def full_run(run: RunDirectory) -> RunDirectory:
    """A finished run with telemetry lines, a store, a log and artifacts."""
    lines = [
        {"type": "step", "episode_id": "e", "step": n, "action": 0, "reward": 1.0}
        | {"terminated": False, "truncated": False}
        for n in range(2000)
    ]
    run.spool.write_text("".join(json.dumps(line) + "\n" for line in lines) + "not an event\n")
    with TelemetryService(run) as service:
        assert service.finish()
    run.worker_log.write_text("hello from the worker\n")
    supervisor = {"pid": 4710, "start_ticks": 5}
    started = {"pid": 4711, "start_ticks": 6, "boot_id": "x", "t": 1.7e9, "supervisor": supervisor}
    run.started.write_text(json.dumps(started))
    exited = {"exit_code": 0, "signal": None, "t": 1.7e9 + 60, "duration_s": 60.0}
    exited |= {"max_rss_bytes": 1, "cpu_s": 1.0, "strays_ended": 0}
    run.exit.write_text(json.dumps(exited))
    put(run, "checkpoints/policy.pt", b"\0\1\2" * 100_000)
    put(run, "videos/" + "long-name-" * 20 + "/ünï code.mp4", b"video")
    put(run, "empty.txt", b"")
    return run


def put(run: RunDirectory, path: str, content: bytes = b"x") -> Path:
    """Write a file into the run directory and return its path."""
    target = run.path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target
