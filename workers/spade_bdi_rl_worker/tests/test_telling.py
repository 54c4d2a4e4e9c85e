"""What is told of a training: figures, the table, progress, beliefs, and files for others."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from spade_bdi_rl_worker.telemetry.outlet import BdiChange, Intention
from spade_bdi_rl_worker.telemetry.reporter import Reporter
from spade_bdi_rl_worker.telemetry.run_outlet import RunOutlet

if TYPE_CHECKING:
    from pathlib import Path

    from mosaic_worker import Run

LAKE = {"env_id": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}


def test_figures_come_every_so_many_episodes(tmp_path: Path) -> None:
    """Return, length, success, exploration, coverage and error, with the step they are of."""
    run = LearningRun(tmp_path, {**LAKE, "max_episodes": 100, "params": {"metrics_every": 25}})
    learner = run.learner()
    learner.learn(100, always)
    learner.evaluate(10, always)
    run.finish(learner)

    rows = run.outlet.rows
    assert len(rows) == 6  # four on schedule, the evaluation, and the last words
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


def test_the_table_is_told_once_a_second_so_that_arrows_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock of the test's own: at the beginning, when a second has passed, and at the end."""
    now = [0.0]
    told = Reporter.__init__

    def with_clock(self: Reporter, *args: Any, **fields: Any) -> None:
        told(self, *args, **fields, clock=lambda: now[0])

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
    assert last["actions"][5] is None  # a hole: there is nothing to do
    assert last["q_values"][14] == pytest.approx([0.9801, 0.99, 1.0, 0.9801], abs=0.01)
    assert run.lines("progress")[-1] == {
        "type": "progress", "done": 2000, "total": 2000, "unit": "episodes", "eta_s": 0.0,
    }  # fmt: skip
    assert run.heartbeat.global_step > 0


CHANGE = BdiChange(
    agent="learner",
    added=("success_rate(0.9)",),
    removed=("success_rate(0.8)",),
    goals=("train(100)",),
    intentions=(Intention("train(100)", "consolidate", 2),),
    plan="+!train(N)",
    confidence=0.9,
)


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "Blackjack-v1"])
def test_a_change_of_mind_has_a_line_of_its_own_and_stands_on_the_next_step(
    tmp_path: Path, env_id: str
) -> None:
    """Where single steps are told, replaying one shows what the agent believed then."""
    run = LearningRun(
        tmp_path, {"env_id": env_id, "max_episodes": 50, "telemetry": {"steps": "all"}}
    )
    outlet = RunOutlet(cast("Run", run))
    learner = run.learner()
    outlet.note_on("learner", learner.note)
    learner.learn(10, always)
    outlet.bdi(CHANGE)
    outlet.bdi(dataclasses.replace(CHANGE, added=("phase(exploring)",), plan="+!explore"))
    outlet.bdi(dataclasses.replace(CHANGE, agent="coach", plan="+!coach"))
    learner.learn(10, always)
    run.finish(learner)
    outlet.close()

    lines = run.lines("bdi")
    assert [line["agent_id"] for line in lines] == ["learner", "learner", "coach"]
    assert lines[0]["intentions"] == [{"goal": "train(100)", "plan": "consolidate", "depth": 2}]
    assert lines[0]["confidence"] == 0.9
    noted = [step for step in run.lines("step") if "bdi" in step]
    (step,) = noted
    assert (step["episode_id"], step["step"]) == ("ep10", 0)
    assert step["bdi"]["added"] == ["success_rate(0.9)", "phase(exploring)"]
    assert step["bdi"]["plan"] == "+!explore"
    assert sum(line["steps"] for line in run.lines("episode")) == len(run.lines("step"))


def test_figures_are_in_an_event_file_too(tmp_path: Path) -> None:
    """Where the protocol wants it, and announced."""
    run = LearningRun(tmp_path, LAKE)
    outlet = RunOutlet(cast("Run", run))
    outlet.figures({"charts/success_rate": 0.5}, 300)
    outlet.close()
    run.close()

    (announced,) = run.lines("artifact")
    assert announced["kind"] == "tensorboard"
    assert announced["path"].startswith("runs/FrozenLake-v1__q_learning__1__")
    (file,) = (tmp_path / announced["path"]).iterdir()
    assert b"charts/success_rate" in file.read_bytes()


def test_a_run_that_wants_no_event_file_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that wants Weights & Biases where it is not installed is told what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    artifacts = {"tensorboard": {"enabled": False}, "wandb": {"enabled": True, "mode": "offline"}}
    run = LearningRun(tmp_path, {**LAKE, "artifacts": artifacts})
    outlet = RunOutlet(cast("Run", run))
    outlet.figures({"charts/success_rate": 1.0}, 1)
    outlet.close()
    run.close()

    assert not (tmp_path / "runs").exists()
    assert run.lines("artifact") == []
    (warning,) = run.lines("log")
    assert "install the extra `wandb`" in warning["message"]
