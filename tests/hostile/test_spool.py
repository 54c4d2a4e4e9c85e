"""A worker that removes or replaces its spool loses no line of it, and a warning says so."""

from collections.abc import Callable

import pytest

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.telemetry.reader import TelemetryReader
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

_STEPS = 152


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("trick", ["unlink_spool", "replace_spool"])
def test_every_line_is_stored(
    daemon: DaemonUnderTest, play: Callable[[str], str], trick: str, *, restarts: bool
) -> None:
    """Also by a daemon that has never seen the file under its name."""
    run_id = play(trick)
    daemon.until(run_id, RunState.RUNNING)
    eventually(lambda: daemon.record(run_id).digest.steps == 100)
    if restarts:
        daemon.restart()
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=30))
    record = daemon.until(run_id)
    assert record.state == "cancelled"
    with TelemetryReader(daemon.run(run_id)) as reader:
        assert [line.step.step for line in reader.steps_after(-1)] == list(range(_STEPS))
    assert record.digest.committed_bytes == record.digest.spool_bytes
    assert any("removed or replaced" in warning for warning in record.warnings)
    assert daemon.run(run_id).spool.read_bytes().count(b'"step"') == 2 * _STEPS


def test_a_truncated_spool_does_not_keep_its_run(
    daemon: DaemonUnderTest, play: Callable[[str], str]
) -> None:
    """The run ends with what was stored before, and a warning."""
    run_id = play("truncate_spool")
    eventually(lambda: daemon.record(run_id).digest.steps == 100)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=30))
    record = daemon.until(run_id)
    assert (record.state, record.digest.steps) == ("cancelled", 100)
    assert any("what was stored before is kept" in warning for warning in record.warnings)
