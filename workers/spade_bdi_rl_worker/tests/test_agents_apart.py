"""Of agents that work together, every line of a learner says whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from spade_bdi_rl_worker.learning.making import make_learner
from spade_bdi_rl_worker.settings import AgentSettings
from spade_bdi_rl_worker.teams.names import learner_name, partner_name, told_as
from spade_bdi_rl_worker.telemetry.outlet import BdiChange
from spade_bdi_rl_worker.telemetry.run_outlet import RunOutlet

if TYPE_CHECKING:
    from pathlib import Path

    from mosaic_worker import Run

OF_EPISODES = ("environment", "episode_start", "step", "steps", "episode")
ENVIRONMENTS = ["FrozenLake-v1", "Blackjack-v1"]  # by table, and by itself


def team_run(folder: Path, env_id: str, steps: str, team: str = "pair") -> LearningRun:
    config = {
        "env_id": env_id,
        "max_episodes": 60,
        "params": {"team": team, "metrics_every": 20},
        "telemetry": {"steps": steps},
    }
    return LearningRun(folder, config)


def whose(run: LearningRun, *kinds: str) -> list[Any]:
    return [line.get("agent_id") for kind in kinds for line in run.lines(kind)]


@pytest.mark.parametrize("detail", ["all", "sampled", "columns", "off"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_the_episodes_of_two_learners_can_be_told_apart(
    tmp_path: Path, env_id: str, detail: str
) -> None:
    """In turns and in every detail; an episode is one learner's from its first line to its last."""
    run = team_run(tmp_path, env_id, detail)
    learner = run.learner()
    twin = learner.twin("learner2")
    for _ in range(3):
        learner.learn(10, always)
        twin.learn(10, always)
    twin.close()
    run.finish(learner)

    assert whose(run, "environment") == ["learner", "learner2"]
    ended = sorted((line["episode"], line["agent_id"]) for line in run.lines("episode"))
    assert [agent for _, agent in ended] == (["learner"] * 10 + ["learner2"] * 10) * 3
    owner = {line["episode_id"]: line["agent_id"] for line in run.lines("episode")}
    for kind in ("episode_start", "step", "steps"):
        for line in run.lines(kind):
            assert line["agent_id"] == owner[line["episode_id"]]
    assert set(whose(run, "policy")) <= {"learner"}


def test_figures_have_one_name_and_say_whose_they_are(tmp_path: Path) -> None:
    """Both can be drawn in one chart; event files, which know no agents, have two names."""
    run = team_run(tmp_path, "FrozenLake-v1", "off")
    outlet = RunOutlet(cast("Run", run))
    learner = make_learner(cast("Run", run), outlet)
    twin = learner.twin("learner2")
    twin.learn(20, always)
    learner.learn(20, always)
    twin.close()
    run.finish(learner)
    outlet.close()

    lines = run.lines("metric")[:2]
    assert [line["agent_id"] for line in lines] == ["learner2", "learner"]
    assert lines[0]["values"].keys() == lines[1]["values"].keys()
    assert "charts/episodic_return" in lines[0]["values"]
    (events,) = tmp_path.glob("runs/*/events.*")
    for name in (b"learner/charts/success_rate", b"learner2/charts/success_rate"):
        assert name in events.read_bytes()


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_change_of_mind_stands_on_a_step_of_its_own_agent(tmp_path: Path, env_id: str) -> None:
    """Although the partner takes the next step; a coach has no steps that it could stand on."""
    run = team_run(tmp_path, env_id, "all")
    outlet = RunOutlet(cast("Run", run))
    learner = make_learner(cast("Run", run), outlet)
    twin = learner.twin("learner2")
    for name in ("learner", "coach", "learner2"):
        outlet.bdi(BdiChange(name, added=(f"name({name})",)))
    twin.learn(2, always)
    learner.learn(2, always)
    twin.close()
    run.finish(learner)
    outlet.close()

    noted = {line["agent_id"]: line["bdi"]["added"] for line in run.lines("step") if "bdi" in line}
    assert noted == {"learner": ["name(learner)"], "learner2": ["name(learner2)"]}
    assert whose(run, "bdi") == ["learner", "coach", "learner2"]


def test_a_learner_with_a_coach_is_named(tmp_path: Path) -> None:
    run = team_run(tmp_path, "FrozenLake-v1", "columns", team="coach")
    learner = run.learner()
    learner.learn(40, always)
    run.finish(learner)

    assert set(whose(run, *OF_EPISODES)) == {"learner"}
    assert set(run.outlet.agents) == {"learner"}


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_learner_that_is_alone_is_not(tmp_path: Path, env_id: str) -> None:
    """Nobody has to be told apart, and its lines are as short as they can be."""
    run = team_run(tmp_path, env_id, "sampled", team="alone")
    learner = run.learner()
    learner.learn(40, always)
    run.finish(learner)

    assert b"agent_id" not in run.telemetry.read_bytes()
    assert set(run.outlet.agents) == {None}


def test_names_in_a_team() -> None:
    """A learner that is called as the coach is gives way."""
    assert told_as(AgentSettings(agent_name="ada")) is None
    assert told_as(AgentSettings(agent_name="ada", team="coach")) == "ada"
    assert learner_name(AgentSettings(agent_name="coach", team="coach")) == "learner"
    assert partner_name(AgentSettings(agent_name="ada", team="pair")) == "ada2"
