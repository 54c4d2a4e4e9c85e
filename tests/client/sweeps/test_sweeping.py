"""Sweeps with a real daemon: trials are runs, and no trial runs twice after a kill."""

import os
import signal

import msgspec
import pytest

from mosaic.client import TrainerClient
from mosaic.client.presets import load_preset
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from tests.client.sweeps.conftest import TIMEOUT_S, children, home_of, slope_sweep, study_of
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process


def wait_for_end(client: TrainerClient, run_id: str) -> RunRecord:
    return client.wait(run_id, TIMEOUT_S)


def kill(client: TrainerClient, run_id: str) -> None:
    """Kill the worker of a run with SIGKILL."""
    started = StartedRecord.read(home_of(client).run(run_id).started)
    assert started is not None
    os.kill(started.pid, signal.SIGKILL)


def falling_run(client: TrainerClient, run_id: str) -> RunRecord:
    """Return the endless run of the sweep once it has reported a score."""

    def find() -> RunRecord | None:
        for run in children(client, run_id):
            shape = load_run_config(client.run(run.run_id).config_json).params["shape"]
            if shape == "fall" and run.state is RunState.RUNNING:
                return run if client.stats(run.run_id).metrics else None
        return None

    return eventually(find)


def test_best_values_are_found_and_saved(client: TrainerClient) -> None:
    """Every trial has several runs; the best configuration is a file and a preset."""
    config = slope_sweep(client, "slope=1,3,2", fixed={"size": 7}, parallel=3, seeds=2, trials=9)
    sweep = wait_for_end(client, client.submit(config).run_id)
    assert (sweep.state, sweep.reason) == ("succeeded", "Finished.")
    study = study_of(client, sweep.run_id)
    values = {trial.params["slope"]: trial.value for trial in study.trials}
    assert values == pytest.approx({1.0: 5.0015, 2.0: 10.0015, 3.0: 15.0015})
    runs = children(client, sweep.run_id)
    assert [run.state for run in runs] == ["succeeded"] * 6
    assert sorted(run.seed for run in runs) == [1, 1, 1, 2, 2, 2]
    started_runs = {run for trial in study.trials for run in trial.user_attrs["runs"]}
    assert started_runs == {run.run_id for run in runs}
    home = home_of(client)
    manifest = msgspec.json.decode(client.run(sweep.run_id).manifest_json)
    assert manifest["optuna_db_path"] == "optuna.db"
    assert [report["path"] for report in manifest["reports"]] == ["best.json"]
    best = load_preset(home, str(home.run(sweep.run_id).path / "best.json"))
    assert best["params"] == {"size": 7, "slope": 3.0}
    assert "seed" not in best
    assert load_preset(home, best["metadata"]["preset"]["name"]) == best
    assert client.curve(sweep.run_id, "sweep/best_value").y[-1] == pytest.approx(15.0015)


def test_unpromising_trial_is_pruned(client: TrainerClient) -> None:
    """Only pruning ends the falling run, and its record has the reason."""
    config = slope_sweep(client, "shape=fall,line", pruner="threshold", lower=0.0)
    sweep = wait_for_end(client, client.submit(config).run_id)
    assert sweep.state == "succeeded", sweep.reason
    states = {trial.params["shape"]: trial.state for trial in study_of(client, sweep.run_id).trials}
    assert states == {"fall": "pruned", "line": "complete"}
    (pruned,) = (run for run in children(client, sweep.run_id) if run.state != "succeeded")
    assert (pruned.state, pruned.reason.startswith("It was pruned")) == ("cancelled", True)


def test_killed_run_fails_only_its_trial(client: TrainerClient) -> None:
    """Like a failed run and one whose score is not a number; the sweep continues."""
    config = slope_sweep(client, "shape=line,fall,nan,crash", parallel=4)
    run_id = client.submit(config).run_id
    kill(client, falling_run(client, run_id).run_id)
    sweep = wait_for_end(client, run_id)
    assert sweep.state == "succeeded", sweep.reason
    trials = {trial.params["shape"]: trial for trial in study_of(client, run_id).trials}
    assert {shape for shape, trial in trials.items() if trial.state == "complete"} == {"line"}
    for shape, reason in [("fall", "SIGKILL"), ("nan", "is NaN"), ("crash", "configured to crash")]:
        assert reason in trials[shape].attributes["reason"]


def test_too_many_failures_in_a_row_end_the_sweep(client: TrainerClient) -> None:
    """With the reason of the last one and a remedy."""
    config = slope_sweep(client, "slope=1,2,3,4", fixed={"shape": "crash"}, max_failures=2)
    sweep = wait_for_end(client, client.submit(config).run_id)
    assert sweep.state == "failed"
    assert "2 trials failed in a row" in sweep.reason
    assert "configured to crash" in sweep.reason
    assert f"--resume {sweep.run_id}" in sweep.remedy
    assert len(children(client, sweep.run_id)) == 2


@pytest.mark.parametrize("ended", ["stopped", "killed"])
def test_stopped_sweep_is_resumed(client: TrainerClient, ended: str) -> None:
    """Unfinished trials run again, finished ones do not, and no run is left.

    A paused sweep pauses its run.
    """
    config = slope_sweep(client, "shape=fall,line", parallel=2)
    run_id = client.submit(config).run_id
    falling = falling_run(client, run_id)
    eventually(lambda: study_of(client, run_id).count("complete"))
    if ended == "stopped":
        _pause_and_resume(client, run_id, falling.run_id)
        client.cancel(run_id)
    else:
        kill(client, run_id)
    assert wait_for_end(client, run_id).state == ("cancelled" if ended == "stopped" else "failed")
    assert wait_for_end(client, falling.run_id).state == "cancelled"
    resumed = {"resume_from": run_id, "pruner": "threshold", "lower": 0.0}
    again = msgspec.structs.replace(config, params={**config.params, **resumed})
    sweep = wait_for_end(client, client.submit(again).run_id)
    assert sweep.state == "succeeded", sweep.reason
    states = [(t.params["shape"], t.state) for t in study_of(client, sweep.run_id).trials]
    assert sorted(states) == [("fall", "pruned"), ("fall", "stopped"), ("line", "complete")]
    assert len(children(client, sweep.run_id)) == 1


def test_sweep_killed_without_daemon(daemon: DaemonUnderTest) -> None:
    """The next daemon cancels its runs, but not those of other parents."""
    with TrainerClient.connect(daemon.home) as client:
        config = slope_sweep(client, "shape=fall", parallel=1)
        run_id = client.submit(config).run_id
        falling = falling_run(client, run_id)
        again = load_run_config(client.run(falling.run_id).config_json)
        resumed = client.submit(msgspec.structs.replace(again, parent_run=falling.run_id)).run_id
        eventually(lambda: client.run(resumed).run.state is RunState.RUNNING)
        daemon.kill()
        kill(client, run_id)
        assert daemon.start().startswith("ready ")
        ended = wait_for_end(client, falling.run_id)
        assert (ended.state, ended.reason) == ("cancelled", f"Its sweep {run_id} has ended.")
        assert client.run(resumed).run.state is RunState.RUNNING
        client.cancel(resumed)
        assert wait_for_end(client, resumed).state == "cancelled"


def test_killed_daemon_loses_nothing(daemon: DaemonUnderTest) -> None:
    """The sweep waits for the next daemon, at any address; every trial has one run."""
    with TrainerClient.connect(daemon.home) as client:
        config = slope_sweep(client, "slope=1,2,3,4", fixed={"pause_s": 0.1}, parallel=2)
        run_id = client.submit(config).run_id
        eventually(lambda: study_of(client, run_id).count("running"))
        daemon.kill()
        assert daemon.start().startswith("ready ")
        assert wait_for_end(client, run_id).state == "succeeded"
        study = study_of(client, run_id)
        assert [trial.state for trial in study.trials] == ["complete"] * 4
        runs = [run for trial in study.trials for run in trial.user_attrs["runs"]]
        assert sorted(runs) == sorted(run.run_id for run in children(client, run_id))


def _pause_and_resume(client: TrainerClient, sweep: str, child: str) -> None:
    client.pause(sweep)
    for run_id in (child, sweep):
        eventually(lambda run_id=run_id: client.run(run_id).run.state is RunState.PAUSED)  # type: ignore[misc]
    client.resume(sweep)
    for run_id in (child, sweep):
        eventually(lambda run_id=run_id: client.run(run_id).run.state is RunState.RUNNING)  # type: ignore[misc]
