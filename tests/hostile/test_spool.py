"""No line is lost if a worker removes or replaces its spool; the run has a warning."""

from collections.abc import Callable

import pytest

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.telemetry.reader import TelemetryReader
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

_STEPS = 152


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("attack", ["unlink_spool", "replace_spool"])
def test_every_line_is_stored(
    daemon: DaemonUnderTest, submit_attack: Callable[[str], str], attack: str, *, restarts: bool
) -> None:
    """With `restarts`, by a daemon that started after the file was removed."""
    run_id = submit_attack(attack)
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


def test_a_truncated_spool_does_not_block_the_end_of_its_run(
    daemon: DaemonUnderTest, submit_attack: Callable[[str], str]
) -> None:
    """The lines stored before are kept, and the run has a warning."""
    run_id = submit_attack("truncate_spool")
    eventually(lambda: daemon.record(run_id).digest.steps == 100)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=30))
    record = daemon.until(run_id)
    assert (record.state, record.digest.steps) == ("cancelled", 100)
    assert any("what was stored before is kept" in warning for warning in record.warnings)
