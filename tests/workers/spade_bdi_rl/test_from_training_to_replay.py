"""The worker as a user runs it: trained by the daemon, replayed, evaluated, stopped, killed."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.mosaic_cli import DEADLINE_S, Mosaic

pytestmark = pytest.mark.process

WORKER = "spade_bdi_rl_worker"
LAKE = (WORKER, "--algo", "q_learning", "--env", "FrozenLake-v1", "--env-arg", "is_slippery=false")


@pytest.fixture
def mosaic(tmp_path: Path, give_bundles: Callable[..., None]) -> Iterator[Mosaic]:
    """On a home with the worker's bundle."""
    made = Mosaic(tmp_path)
    give_bundles(made.home, WORKER)
    yield made
    made.clean_up()


@pytest.mark.parametrize("detail", ["columns", "all"])
def test_a_training_is_stored_replayed_and_played(mosaic: Mosaic, detail: str) -> None:
    """All episodes are stored, single ones replay exactly, and the table solves the lake."""
    run = mosaic.json("train", *LAKE, "--max-episodes", "1500", "--telemetry", detail)
    assert (run["state"], run["digest"]["episodes"]) == ("succeeded", 1_500), run["reason"]
    assert run["digest"]["rejects"] == 0
    assert run["digest"]["committed_bytes"] == run["digest"]["spool_bytes"]

    for episode in ("0", "700", "last"):
        assert "Identical" in mosaic.ok("replay", run["run_id"], episode, "--verify")

    evaluated = mosaic.json("evaluate", run["run_id"], "--episodes", "5")
    assert evaluated["state"] == "succeeded", evaluated["reason"]
    assert evaluated["digest"]["mean_return"] == 1.0


def test_a_dry_run_finds_mistakes(mosaic: Mosaic, tmp_path: Path) -> None:
    """In the environment and in the user's plans, without a traceback."""
    plans = tmp_path / "mine.asl"
    plans.write_text("+!train(N) : bach(B)\n   <- .learn(B).\n")
    for text, mistake in (
        ("no argument 'is_slipery'", ("--env-arg", "is_slipery=false")),
        ("mine.asl, line 1 (+!train/1): `bach(B)`", ("--set", f"asl={plans}")),
    ):
        result = mosaic("train", *LAKE, *mistake, "--dry-run")
        assert result.returncode != 0
        assert text in result.stderr
        assert "Traceback" not in result.stderr
    assert mosaic.json("runs", "list")["runs"] == []


def test_two_agents_use_an_embedded_server(mosaic: Mosaic) -> None:
    """A coach sets the goals; the server ends with the run."""
    talk = ("--set", "xmpp=embedded", "--set", "team=coach")
    run = mosaic.json("train", *LAKE, "--max-episodes", "300", *talk)
    assert run["state"] == "succeeded", run["reason"]
    output = " ".join(run["output_tail"])
    assert "messages through XMPP" in output
    assert "coach is done" in output


@pytest.mark.parametrize("detail", ["columns", "all"])
def test_two_learners_are_distinguished(mosaic: Mosaic, detail: str) -> None:
    """Episodes, steps and curves have agent ids, and all replay exactly."""
    pair = ("--set", "team=pair", "--max-episodes", "200", "--telemetry", detail)
    run = mosaic.json("train", *LAKE[:-2], *pair)
    assert (run["state"], run["digest"]["rejects"]) == ("succeeded", 0), run["reason"]
    run_id = run["run_id"]

    listed = mosaic.json("telemetry", run_id, "episodes", "--count", "1000")["episodes"]
    episodes = {
        agent: [each for each in listed if each["agent_id"] == agent]
        for agent in ("learner", "learner2")
    }
    assert [len(each) for each in episodes.values()] == [200, 200]
    assert len(listed) == 400
    for agent, own in episodes.items():
        for episode in (own[0], own[len(own) // 2], own[-1]):
            number = str(episode["episode"])
            document = mosaic.json("replay", run_id, number, "--verify")
            assert (document["identical"], document["steps"]) == (True, episode["steps"])
            shown = ("--episode", number, "--count", "1000")
            steps = mosaic.json("telemetry", run_id, "steps", *shown)["steps"]
            assert {step["agent_id"] for step in steps} == {agent}
            assert sum(step["reward"] for step in steps) == episode["total_return"]

    series = mosaic.json("telemetry", run_id, "metrics")["series"]
    returns = [each["agent_id"] for each in series if each["name"] == "charts/episodic_return"]
    assert sorted(returns) == ["learner", "learner2"]
    result = ("telemetry", run_id, "metrics", "charts/episodic_return")
    refused = mosaic(*result)
    assert "reported by learner and learner2." in refused.stderr
    assert "--agent learner." in refused.stderr
    assert mosaic.json(*result, "--agent", "learner2")["points"] > 0


def test_pause_resume_and_kill(mosaic: Mosaic) -> None:
    """No steps while paused; a killed run fails and keeps all its lines."""
    slowly = ("--set", "steps_per_second=500", "--detach")
    run_id = mosaic.json("train", *LAKE, "--max-episodes", "1000000", *slowly)["run_id"]
    steps_of(mosaic, run_id, more_than=0)
    mosaic.ok("runs", "pause", run_id)
    paused = state_of(mosaic, run_id)
    assert paused["state"] == "paused"
    mosaic.ok("runs", "resume", run_id)
    steps_of(mosaic, run_id, more_than=paused["digest"]["steps"])

    started = json.loads(mosaic.home.run(run_id).started.read_text())
    os.kill(started["pid"], signal.SIGKILL)
    mosaic("runs", "watch", run_id)
    ended = state_of(mosaic, run_id)
    assert (ended["state"], "SIGKILL" in ended["reason"]) == ("failed", True)
    spool = (mosaic.home.runs / run_id / "telemetry.jsonl").stat().st_size
    assert ended["digest"]["committed_bytes"] == spool


def state_of(mosaic: Mosaic, run_id: str) -> Any:
    return mosaic.json("runs", "show", run_id)


def steps_of(mosaic: Mosaic, run_id: str, more_than: int) -> None:
    """Wait until the run has more stored steps."""
    deadline = time.monotonic() + DEADLINE_S
    while state_of(mosaic, run_id)["digest"]["steps"] <= more_than:
        assert time.monotonic() < deadline, "it takes no steps"
