"""In a team, every event of a learner has its agent id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from spade_bdi_rl_worker.learning.learner_factory import make_learner
from spade_bdi_rl_worker.settings import (
    AgentSettings,
    learner_name,
    partner_name,
    reported_agent_id,
)
from spade_bdi_rl_worker.telemetry.sink import BdiUpdate, RunTelemetrySink

if TYPE_CHECKING:
    from pathlib import Path

    from mosaic_worker import Run

EPISODE_EVENTS = ("environment", "episode_start", "step", "steps", "episode")
ENVIRONMENTS = ["FrozenLake-v1", "Blackjack-v1"]  # simulated from a table, and stepped


def team_run(folder: Path, env_id: str, steps: str, team: str = "pair") -> LearningRun:
    config = {
        "env_id": env_id,
        "max_episodes": 60,
        "params": {"team": team, "metrics_every": 20},
        "telemetry": {"steps": steps},
    }
    return LearningRun(folder, config)


def agent_ids(run: LearningRun, *kinds: str) -> list[Any]:
    return [line.get("agent_id") for kind in kinds for line in run.lines(kind)]


@pytest.mark.parametrize("detail", ["all", "sampled", "columns", "off"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_episodes_of_two_learners_have_agent_ids(tmp_path: Path, env_id: str, detail: str) -> None:
    """Interleaved, in every detail; all events of an episode have the same agent."""
    run = team_run(tmp_path, env_id, detail)
    learner = run.learner()
    partner = learner.make_partner("learner2")
    for _ in range(3):
        learner.learn(10, always)
        partner.learn(10, always)
    partner.close()
    run.finish(learner)

    assert agent_ids(run, "environment") == ["learner", "learner2"]
    ended = sorted((line["episode"], line["agent_id"]) for line in run.lines("episode"))
    assert [agent for _, agent in ended] == (["learner"] * 10 + ["learner2"] * 10) * 3
    owner = {line["episode_id"]: line["agent_id"] for line in run.lines("episode")}
    for kind in ("episode_start", "step", "steps"):
        for line in run.lines(kind):
            assert line["agent_id"] == owner[line["episode_id"]]
    assert set(agent_ids(run, "policy")) <= {"learner"}


def test_metrics_have_the_same_names_and_an_agent_id(tmp_path: Path) -> None:
    """Both fit into one chart; event files have no agents, so they use two names."""
    run = team_run(tmp_path, "FrozenLake-v1", "off")
    sink = RunTelemetrySink(cast("Run", run))
    learner = make_learner(cast("Run", run), sink)
    partner = learner.make_partner("learner2")
    partner.learn(20, always)
    learner.learn(20, always)
    partner.close()
    run.finish(learner)
    sink.close()

    lines = run.lines("metric")[:2]
    assert [line["agent_id"] for line in lines] == ["learner2", "learner"]
    assert lines[0]["values"].keys() == lines[1]["values"].keys()
    assert "charts/episodic_return" in lines[0]["values"]
    (events,) = tmp_path.glob("runs/*/events.*")
    for name in (b"learner/charts/success_rate", b"learner2/charts/success_rate"):
        assert name in events.read_bytes()


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_bdi_update_annotates_a_step_of_its_agent(tmp_path: Path, env_id: str) -> None:
    """Even if the partner takes the next step; a coach has no steps."""
    run = team_run(tmp_path, env_id, "all")
    sink = RunTelemetrySink(cast("Run", run))
    learner = make_learner(cast("Run", run), sink)
    partner = learner.make_partner("learner2")
    for name in ("learner", "coach", "learner2"):
        sink.report_bdi(BdiUpdate(name, added=(f"name({name})",)))
    partner.learn(2, always)
    learner.learn(2, always)
    partner.close()
    run.finish(learner)
    sink.close()

    annotated = {
        line["agent_id"]: line["bdi"]["added"] for line in run.lines("step") if "bdi" in line
    }
    assert annotated == {"learner": ["name(learner)"], "learner2": ["name(learner2)"]}
    assert agent_ids(run, "bdi") == ["learner", "coach", "learner2"]


def test_a_learner_with_a_coach_has_an_agent_id(tmp_path: Path) -> None:
    run = team_run(tmp_path, "FrozenLake-v1", "columns", team="coach")
    learner = run.learner()
    learner.learn(40, always)
    run.finish(learner)

    assert set(agent_ids(run, *EPISODE_EVENTS)) == {"learner"}
    assert set(run.sink.agents) == {"learner"}


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_single_learner_has_no_agent_id(tmp_path: Path, env_id: str) -> None:
    """There is only one agent, and its events stay short."""
    run = team_run(tmp_path, env_id, "sampled", team="alone")
    learner = run.learner()
    learner.learn(40, always)
    run.finish(learner)

    assert b"agent_id" not in run.telemetry.read_bytes()
    assert set(run.sink.agents) == {None}


def test_agent_names() -> None:
    """A learner that is named like the coach gets the default name."""
    assert reported_agent_id(AgentSettings(agent_name="ada")) is None
    assert reported_agent_id(AgentSettings(agent_name="ada", team="coach")) == "ada"
    assert learner_name(AgentSettings(agent_name="coach", team="coach")) == "learner"
    assert partner_name(AgentSettings(agent_name="ada", team="pair")) == "ada2"
