"""After a power failure the registry has every change whose call returned, and recovery works."""

import random
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.trainer.processes.launcher import LocalLauncher
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.recovery import Recovery
from mosaic.trainer.runs.run_annotations import RunAnnotations
from tests.hostile.power_cut.conftest import CheckStates
from tests.hostile.power_cut.disk_model import State
from tests.hostile.power_cut.programs.registry import snapshot
from tests.hostile.power_cut.recording import Recorder, Recording

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def recording(recorder: Recorder) -> Recording:
    return recorder.record("registry", ["tests.hostile.power_cut.programs.registry"])


class _Promise(NamedTuple):
    """What must be on disk at one position."""

    snapshots: list[Any]
    """Of the last call that returned, and of the next one, which may be complete on disk."""
    configs: set[str]
    annotations: set[str]


def _promise_at(recording: Recording, position: int) -> _Promise:
    promise = _Promise([{"seq": 0, "runs": {}}], set(), set())
    for marked, value in recording.marks():
        has_returned = marked < position
        if "runs" in value:
            promise.snapshots.append(value)
            if not has_returned:
                break
        elif has_returned:
            promise.configs.update([value["config"]] if "config" in value else ())
            promise.annotations.update([value["annotations"]] if "annotations" in value else ())
    return promise._replace(snapshots=promise.snapshots[-2:])


def _check_registry(folder: Path, state: State, recording: Recording) -> None:
    home = Home(folder / "home")
    promise = _promise_at(recording, state.position)
    with RunRegistry(home.registry) as registry:
        assert registry.set_aside is None, registry.set_aside_reason
        restored = msgspec.to_builtins(snapshot(registry))
        assert restored in promise.snapshots
        for run_id in promise.annotations & registry.run_ids():
            data = home.run(run_id).annotations.read_bytes()
            annotations = msgspec.json.decode(data, type=RunAnnotations)
            assert annotations.note == registry.get(run_id).note
        for run_id in promise.configs & registry.run_ids():
            assert load_run_config(home.run(run_id).config.read_bytes()) == registry.config(run_id)
        home.runs.mkdir(exist_ok=True, parents=True)
        recovered = Recovery(home, registry, LocalLauncher()).recover()
        deleted = {path.name for path in home.runs.iterdir()} - set(restored["runs"])
        assert recovered.problems == []
        for run_id in restored["runs"]:
            assert registry.get(run_id).state is RunState.QUEUED
            assert load_run_config(home.run(run_id).config.read_bytes()) == registry.config(run_id)
        assert all(registry.get(run_id).state is RunState.LOST for run_id in deleted)


def test_each_returned_change_is_durable(recording: Recording, check_states: CheckStates) -> None:
    """The states, notes and events are those of the last call that returned, or of the next one."""
    check_states(
        recording,
        random.Random(0),
        lambda folder, state: _check_registry(folder, state, recording),
    )


@pytest.mark.repetition
@pytest.mark.parametrize("seed", range(1, 9))
def test_each_returned_change_is_durable_with_more_states(
    recording: Recording, check_states: CheckStates, seed: int
) -> None:
    """The same, at more positions."""
    check_states(
        recording,
        random.Random(seed),
        lambda folder, state: _check_registry(folder, state, recording),
    )
