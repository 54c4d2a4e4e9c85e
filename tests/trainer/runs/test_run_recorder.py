"""The recorded outcome of a run."""

from typing import Any

import pytest

from mosaic.contract.events import Bye
from mosaic.contract.process_records import ExitRecord, StartedRecord, SupervisorStamp
from mosaic.contract.run_states import RunState
from mosaic.trainer.processes.run_process import Exited, Lost
from mosaic.trainer.runs.run_recorder import outcome_of

SUCCEEDED, FAILED, CANCELLED = (
    Bye(outcome="succeeded"),
    Bye(outcome="failed", error="map not found", remedy="Create the map."),
    Bye(outcome="cancelled"),
)


def _exited(exit_code: int | None = 0, **fields: Any) -> Exited:
    values = {"signal": None, "t": 5.0, "duration_s": 1.0, "max_rss_bytes": 1, "cpu_s": 1.0}
    return Exited(ExitRecord(exit_code=exit_code, strays_ended=0, **{**values, **fields}))


@pytest.mark.parametrize(
    ("process", "bye", "stop_reason", "state", "reason"),
    [
        (_exited(0), SUCCEEDED, None, RunState.SUCCEEDED, "Finished."),
        (_exited(0), None, None, RunState.SUCCEEDED, "Finished."),
        (_exited(3), FAILED, None, RunState.FAILED, "map not found"),
        (_exited(3), None, None, RunState.FAILED, "exit code 3"),
        (_exited(0), FAILED, None, RunState.FAILED, "map not found"),
        (_exited(0), CANCELLED, None, RunState.CANCELLED, "by another program"),
        (_exited(0), CANCELLED, "on request", RunState.CANCELLED, "on request"),
        (_exited(0), None, "on request", RunState.CANCELLED, "on request"),
        # It finished before it received the stop command.
        (_exited(0), SUCCEEDED, "on request", RunState.SUCCEEDED, "Finished."),
        (
            _exited(None, signal=9, signal_name="SIGKILL"),
            None,
            None,
            RunState.FAILED,
            "ended by SIGKILL",
        ),
        (
            _exited(None, signal=9, signal_name="SIGKILL"),
            None,
            "on request",
            RunState.CANCELLED,
            "on request",
        ),
        (_exited(127, error="no such program"), None, None, RunState.FAILED, "no such program"),
    ],
)
def test_outcomes(
    process: Exited, bye: Bye | None, stop_reason: str | None, state: RunState, reason: str
) -> None:
    """The outcome depends on the exit code, the `bye` event and the stop request."""
    outcome = outcome_of(process, bye, stop_reason)
    assert outcome.state is state
    assert reason in outcome.reason


def test_a_run_without_an_exit_record_is_lost() -> None:
    """The remedy says what to do."""
    started = StartedRecord(
        pid=1, start_ticks=1, boot_id="b", t=1.0, supervisor=SupervisorStamp(pid=2, start_ticks=1)
    )
    outcome = outcome_of(Lost(started), SUCCEEDED, None)
    assert outcome.state is RunState.LOST
    assert "Start it again" in outcome.remedy
