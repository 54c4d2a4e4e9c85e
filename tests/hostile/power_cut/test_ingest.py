"""After a power failure during ingest, each line is stored once, and the run is not stuck."""

import random
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry import counters
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.hostile.power_cut.conftest import CheckStates
from tests.hostile.power_cut.disk_model import State
from tests.hostile.power_cut.programs import ingest
from tests.hostile.power_cut.recording import Recorder, Recording

pytestmark = pytest.mark.process


class Stored(NamedTuple):
    """What a run's store and rejects have."""

    steps: list[int]
    logs: list[int]
    rejects: list[tuple[int, str]]
    """Offset and text."""

    def add(self, offset: int, line: bytes, *, is_damaged: bool) -> None:
        """Add what is stored for a line of the spool."""
        if is_damaged or line.startswith(b"garbage"):
            self.rejects.append((offset, line.decode()))
        elif line.startswith(b'{"type": "step"'):
            self.steps.append(msgspec.json.decode(line)["step"])
        else:
            self.logs.append(_log_number(line))


def _log_number(line: bytes) -> int:
    return int(msgspec.json.decode(line)["message"].split()[0])


def _read(run: RunDirectory) -> Stored:
    with TelemetryReader(run) as reader:
        return Stored(
            [step.step.step for step in reader.steps_after(-1, limit_chunks=1_000)],
            [_log_number(event.line) for event in reader.events_after(-1)],
            [(reject.offset, reject.text or "") for reject in reader.rejects()],
        )


@pytest.fixture(scope="module")
def recording(recorder: Recorder) -> Recording:
    recording = recorder.record("ingest", ["tests.hostile.power_cut.programs.ingest"])
    assert [value for _, value in recording.marks()] == [True]
    return recording


def _check_ingest(folder: Path, state: State, written: bytes) -> None:
    run = RunDirectory(folder / ingest.RUN)
    if not run.path.exists():
        return
    spool = run.spool.read_bytes() if run.spool.exists() else b""
    with TelemetryService(run) as service:
        offset = service._open_store().counts[counters.OFFSET]
        assert written[:offset].endswith(b"\n") or not offset
        assert not state.is_ordered or spool.startswith(written[:offset])
        assert service.finish(), service.status()
        assert service.status().fault is None
    expected, before = _expect(written, spool, offset)
    stored = _read(run)
    assert stored.steps == expected.steps
    assert stored.logs == expected.logs
    lost = len(expected.rejects) - len(stored.rejects)
    assert lost == 0 if state.is_ordered else 0 <= lost <= before
    new = expected.rejects[before:]
    assert stored.rejects[len(stored.rejects) - len(new) :] == new
    assert [reject for reject in expected.rejects if reject in stored.rejects] == stored.rejects
    with TelemetryService(run) as service:
        assert service.finish()
    assert _read(run) == stored


def _expect(written: bytes, spool: bytes, offset: int) -> tuple[Stored, int]:
    """What must be stored, and how many rejects of it were stored before the power failure."""
    expected = Stored([], [], [])
    position = 0
    for line in written[:offset].splitlines(keepends=True):
        expected.add(position, line.rstrip(b"\n"), is_damaged=False)
        position += len(line)
    before = len(expected.rejects)
    if len(spool) < offset or (len(spool) > offset > 0 and spool[offset - 1 : offset] != b"\n"):
        return expected, before
    for line in spool[offset:].removesuffix(b"\n").split(b"\n"):
        if line:
            is_damaged = not written[position:].startswith(line + b"\n")
            expected.add(position, line, is_damaged=is_damaged)
        position += len(line) + 1
    return expected, before


def _check_all(recording: Recording, check_states: CheckStates, seed: int) -> None:
    written = (recording.root / ingest.RUN / "telemetry.jsonl").read_bytes()
    check_states(
        recording,
        random.Random(seed),
        lambda folder, state: _check_ingest(folder, state, written),
    )


def test_each_line_is_stored_once(recording: Recording, check_states: CheckStates) -> None:
    """The store has a prefix of the lines and continues with the spool that is left."""
    _check_all(recording, check_states, 0)


@pytest.mark.repetition
@pytest.mark.parametrize("seed", range(1, 9))
def test_each_line_is_stored_once_with_more_states(
    recording: Recording, check_states: CheckStates, seed: int
) -> None:
    """The same, at more positions."""
    _check_all(recording, check_states, seed)
