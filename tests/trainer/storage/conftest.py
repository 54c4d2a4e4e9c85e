"""A home with a registry and finished runs that have artifacts."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.events import Artifact
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.telemetry.service import TelemetryService
from mosaic.trainer.artifacts.artifact_scan import scan_artifacts
from mosaic.trainer.registry.run_registry import RunRegistry

NOW = 1_760_000_000.0
DAY_S = 86_400.0

AddRun = Callable[..., RunDirectory]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "var")


@pytest.fixture
def registry(home: Home) -> Iterator[RunRegistry]:
    with RunRegistry(home.registry, clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def add_run(home: Home, registry: RunRegistry) -> AddRun:
    """Add a run with files `(path, bytes, time)` and announced artifacts."""

    def add(
        *files: tuple[str, bytes, float],
        announced: dict[str, dict[str, Any]] | None = None,
        state: RunState = RunState.SUCCEEDED,
        ended_at: float = NOW,
        **fields: Any,
    ) -> RunDirectory:
        run = home.run(new_ulid())
        run.path.mkdir(parents=True)
        run.config.write_text("{}")
        for path, content, t in files:
            file = run.path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            os.utime(file, (t, t))
        artifacts = [
            Artifact(kind="checkpoint", path=path, meta=meta)
            for path, meta in (announced or {}).items()
        ]
        lines = [
            {
                "type": "artifact",
                "kind": artifact.kind,
                "path": artifact.path,
                "meta": artifact.meta,
            }
            for artifact in artifacts
        ]
        run.spool.write_text("".join(json.dumps(line) + "\n" for line in lines))
        with TelemetryService(run) as service:
            assert service.finish()
        config = {"worker": "echo_worker", "algo": "echo", "env_id": "CartPole-v1", **fields}
        registry.add(
            run.run_id,
            TrainRunConfig(**config),
            state=state,
            ended_at=ended_at if state.is_final else None,
        )
        registry.set_manifest(run.run_id, scan_artifacts(run, artifacts))
        return run

    return add
