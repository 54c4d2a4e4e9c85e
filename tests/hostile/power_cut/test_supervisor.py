"""After a power failure the records of a supervisor are complete or absent."""

import json
import random
from pathlib import Path

import pytest

from mosaic.contract.layout import Home
from mosaic.contract.process_records import ExitRecord, StartedRecord
from tests.hostile.power_cut.conftest import CheckStates
from tests.hostile.power_cut.disk_model import State
from tests.hostile.power_cut.programs.supervised_run import EXIT_CODE, LINES, RUN
from tests.hostile.power_cut.recording import Recorder, Recording

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def recording(recorder: Recorder) -> Recording:
    return recorder.record("supervisor", ["tests.hostile.power_cut.programs.supervised_run"])


def _check_records(folder: Path, state: State, recording: Recording) -> None:
    run = Home(folder / "home").run(RUN)
    started = StartedRecord.read(run.started)
    ended = ExitRecord.read(run.exit)
    spool = run.spool.read_bytes() if run.spool.exists() else b""
    if spool:
        assert started is not None
    ((marked, _),) = recording.marks()
    if marked < state.position:
        assert ended is not None
    if ended is not None:
        assert started is not None
        assert ended.exit_code == EXIT_CODE
        assert ended.spool_bytes == len(spool)
        assert [json.loads(line)["line"] for line in spool.splitlines()] == list(range(LINES))


def test_records_are_complete_or_absent(recording: Recording, check_states: CheckStates) -> None:
    """A line of the worker has its `started.json`, and with `exit.json` all lines are there."""
    check_states(
        recording, random.Random(0), lambda folder, state: _check_records(folder, state, recording)
    )


@pytest.mark.repetition
@pytest.mark.parametrize("seed", range(1, 5))
def test_records_are_complete_or_absent_in_more_states(
    recording: Recording, check_states: CheckStates, seed: int
) -> None:
    """The same, at more positions."""
    check_states(
        recording,
        random.Random(seed),
        lambda folder, state: _check_records(folder, state, recording),
    )
