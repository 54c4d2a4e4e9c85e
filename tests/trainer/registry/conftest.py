"""A registry on disk, a clock that advances only on request, and helpers to create runs."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.registry.run_registry import RunRegistry

NOW = 1_760_000_000.0
"""Initial time of the test clock."""

AddRun = Callable[..., RunRecord]


class Clock:
    """A clock that moves only when set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def config(**fields: Any) -> TrainRunConfig:
    return TrainRunConfig(
        **{"worker": "echo_worker", "algo": "echo", "env_id": "CartPole-v1", **fields}
    )


def finish(registry: RunRegistry, run_id: str, end: RunState, **more: Any) -> RunRecord:
    """Transition a queued run through the usual states to `end`."""
    registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, "next")
    registry.transition(run_id, {RunState.PREPARING}, RunState.RUNNING, "started")
    return registry.transition(run_id, {RunState.RUNNING}, end, "it ended", **more)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trainer" / "trainer.db"


@pytest.fixture
def registry(path: Path, clock: Clock) -> Iterator[RunRegistry]:
    with RunRegistry(path, clock=clock) as opened:
        yield opened


@pytest.fixture
def add_run(registry: RunRegistry) -> AddRun:
    """Add a queued run; keyword arguments are configuration fields."""

    def add(**fields: Any) -> RunRecord:
        return registry.add(new_ulid(), config(**fields))

    return add
