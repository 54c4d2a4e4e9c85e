"""Telemetry of a training run: metrics, policy table, progress, beliefs and event files."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from spade_bdi_rl_worker.telemetry.reporter import Reporter
from spade_bdi_rl_worker.telemetry.sink import BdiUpdate, IntentionState, RunTelemetrySink

if TYPE_CHECKING:
    from pathlib import Path

    from mosaic_worker import Run

LAKE = {"env_id": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}


def test_metrics_are_reported_on_schedule(tmp_path: Path) -> None:
    """Return, length, success, exploration, coverage and TD error, with their step."""
    run = LearningRun(tmp_path, {**LAKE, "max_episodes": 100, "params": {"metrics_every": 25}})
    learner = run.learner()
    learner.learn(100, always)
    learner.evaluate(10, always)
    run.finish(learner)

    rows = run.sink.rows
    assert len(rows) == 6  # four on schedule, the evaluation, and the final one
    assert set(rows[0][1]) == {
        "charts/episodic_return",
        "charts/episodic_length",
        "charts/success_rate",
        "exploration/epsilon",
        "exploration/coverage",
        "losses/td_error",
    }
    assert set(rows[4][1]) == {
        "evaluation/return",
        "evaluation/length",
        "evaluation/success_rate",
    }
    assert [step for step, _ in rows] == sorted(step for step, _ in rows)
    assert 0 < rows[0][1]["exploration/coverage"] <= 1


def test_the_policy_table_is_reported_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start, after each second, and at the end, with a fake clock."""
    now = [0.0]
    init = Reporter.__init__

    def with_clock(self: Reporter, *args: Any, **fields: Any) -> None:
        init(self, *args, **fields, clock=lambda: now[0])

    monkeypatch.setattr(Reporter, "__init__", with_clock)
    run = LearningRun(tmp_path, {**LAKE, "max_episodes": 2_000})
    learner = run.learner()
    for second in (0.1, 0.9, 1.1, 1.9, 2.2):
        now[0] = second
        learner.learn(400, always)
    run.finish(learner)

    lines = run.lines("policy")
    assert len(lines) == 4
    assert lines[0]["actions"] == [None] * 16
    assert [line["step"] for line in lines] == sorted({line["step"] for line in lines})
    last = lines[-1]
    assert last["actions"][0] in (1, 2)
    assert last["actions"][5] is None  # a hole: terminal
    assert last["q_values"][14] == pytest.approx([0.9801, 0.99, 1.0, 0.9801], abs=0.01)
    assert run.lines("progress")[-1] == {
        "type": "progress", "done": 2000, "total": 2000, "unit": "episodes", "eta_s": 0.0,
    }  # fmt: skip
    assert run.heartbeat.global_step > 0


UPDATE = BdiUpdate(
    agent="learner",
    added=("success_rate(0.9)",),
    removed=("success_rate(0.8)",),
    goals=("train(100)",),
    intentions=(IntentionState("train(100)", "consolidate", 2),),
    plan="+!train(N)",
    confidence=0.9,
)


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "Blackjack-v1"])
def test_a_bdi_update_is_an_event_and_annotates_the_next_step(tmp_path: Path, env_id: str) -> None:
    """If steps are recorded, a replay shows the beliefs at each step."""
    run = LearningRun(
        tmp_path, {"env_id": env_id, "max_episodes": 50, "telemetry": {"steps": "all"}}
    )
    sink = RunTelemetrySink(cast("Run", run))
    learner = run.learner()
    sink.set_step_annotator("learner", learner.annotate_next_step)
    learner.learn(10, always)
    sink.report_bdi(UPDATE)
    sink.report_bdi(dataclasses.replace(UPDATE, added=("phase(exploring)",), plan="+!explore"))
    sink.report_bdi(dataclasses.replace(UPDATE, agent="coach", plan="+!coach"))
    learner.learn(10, always)
    run.finish(learner)
    sink.close()

    lines = run.lines("bdi")
    assert [line["agent_id"] for line in lines] == ["learner", "learner", "coach"]
    assert lines[0]["intentions"] == [{"goal": "train(100)", "plan": "consolidate", "depth": 2}]
    assert lines[0]["confidence"] == 0.9
    annotated = [step for step in run.lines("step") if "bdi" in step]
    (step,) = annotated
    assert (step["episode_id"], step["step"]) == ("ep10", 0)
    assert step["bdi"]["added"] == ["success_rate(0.9)", "phase(exploring)"]
    assert step["bdi"]["plan"] == "+!explore"
    assert sum(line["steps"] for line in run.lines("episode")) == len(run.lines("step"))


def test_metrics_are_written_to_an_event_file(tmp_path: Path) -> None:
    """It is in the folder of the protocol, and there is an artifact line."""
    run = LearningRun(tmp_path, LAKE)
    sink = RunTelemetrySink(cast("Run", run))
    sink.report_metrics({"charts/success_rate": 0.5}, 300)
    sink.close()
    run.close()

    (artifact,) = run.lines("artifact")
    assert artifact["kind"] == "tensorboard"
    assert artifact["path"].startswith("runs/FrozenLake-v1__q_learning__1__")
    (file,) = (tmp_path / artifact["path"]).iterdir()
    assert b"charts/success_rate" in file.read_bytes()


def test_trackers_can_be_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an event file; if W&B is not installed, a warning names the extra."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    artifacts = {"tensorboard": {"enabled": False}, "wandb": {"enabled": True, "mode": "offline"}}
    run = LearningRun(tmp_path, {**LAKE, "artifacts": artifacts})
    sink = RunTelemetrySink(cast("Run", run))
    sink.report_metrics({"charts/success_rate": 1.0}, 1)
    sink.close()
    run.close()

    assert not (tmp_path / "runs").exists()
    assert run.lines("artifact") == []
    (warning,) = run.lines("log")
    assert "install the extra `wandb`" in warning["message"]
