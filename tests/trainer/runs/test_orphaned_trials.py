"""Trials that are still active although their sweep has ended."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.orphaned_trials import orphaned_trials

ENDED_AT = 1_760_000_000.0


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[RunRegistry]:
    with RunRegistry(tmp_path / "registry.db") as opened:
        yield opened


def add_parent(registry: RunRegistry, mode: str, state: RunState) -> str:
    config = TrainRunConfig(worker="w", algo="a", env_id="E", mode=mode)  # type: ignore[arg-type] # parametrized
    ended_at = ENDED_AT if state.is_final else None
    return registry.add(new_ulid(), config, state=state, ended_at=ended_at).run_id


def add_child(
    registry: RunRegistry, parent_run: str, state: RunState = RunState.RUNNING, age_s: float = 60.0
) -> str:
    config = TrainRunConfig(worker="w", algo="a", env_id="E", parent_run=parent_run)
    return registry.add(new_ulid(), config, state=state, created_at=ENDED_AT - age_s).run_id


def orphans(registry: RunRegistry) -> set[str]:
    return {record.run_id for record in orphaned_trials(registry)}


@pytest.mark.parametrize("end", [RunState.LOST, RunState.FAILED, RunState.CANCELLED])
def test_trials_of_a_finished_sweep(registry: RunRegistry, end: RunState) -> None:
    """In any final state of the sweep; stopping and finished trials are omitted."""
    sweep = add_parent(registry, "sweep", end)
    active = {
        add_child(registry, sweep, state)
        for state in (RunState.QUEUED, RunState.PREPARING, RunState.RUNNING, RunState.PAUSED)
    }
    add_child(registry, sweep, RunState.STOPPING)
    add_child(registry, sweep, RunState.SUCCEEDED)
    assert orphans(registry) == active


@pytest.mark.parametrize(
    ("mode", "state"),
    [
        ("sweep", RunState.RUNNING),
        ("train", RunState.FAILED),
        ("train", RunState.RUNNING),
    ],
)
def test_runs_of_other_parents(registry: RunRegistry, mode: str, state: RunState) -> None:
    """The parent is an active sweep, or not a sweep."""
    add_child(registry, add_parent(registry, mode, state))
    add_child(registry, "01J0000000000000000000000Z")
    assert orphans(registry) == set()


def test_a_trial_that_was_submitted_again(registry: RunRegistry) -> None:
    """It was created after its sweep ended, so it is not orphaned."""
    add_child(registry, add_parent(registry, "sweep", RunState.LOST), age_s=-60.0)
    assert orphans(registry) == set()
