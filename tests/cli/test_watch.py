"""The stats next to the progress bar of a run."""

import pytest

from mosaic.cli.watch import run_stats_text
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats


@pytest.mark.parametrize(
    ("mode", "state", "has_return"),
    [
        ("train", RunState.RUNNING, True),
        ("train", RunState.SUCCEEDED, True),
        ("evaluate", RunState.RUNNING, True),
        ("evaluate", RunState.SUCCEEDED, False),
    ],
)
def test_a_finished_evaluation_leaves_its_return_to_the_results(
    mode: str, state: RunState, has_return: bool
) -> None:
    """So that two different means are not printed."""
    run = RunRecord(
        run_id="01M7JS6GA2YFQR943ZVTAN6HR1",
        worker="echo_worker",
        mode=mode,
        env_id="Echo-v0",
        seed=1,
        state=state,
        created_at=0.0,
        digest=RunStats(mean_return=0.5),
    )
    assert ("return 0.5" in run_stats_text(run)) is has_return
