"""The actors of the session worker, and user-written ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from workers.session_worker.tests.session_process import StartSession

pytestmark = pytest.mark.process

COUNTING = "odd_environments:CountingEnv-v0"
FAST = {"params": {"speed": 0}}


def test_the_same_seed_gives_the_same_episodes(start: StartSession) -> None:
    """Equal actions and observations, across episodes and in concurrent sessions."""
    sessions = [start("random", "CartPole-v1", seed=seed, episodes=3, **FAST) for seed in (1, 1, 2)]
    assert [session.wait() for session in sessions] == [0, 0, 0]
    steps = [[(step["action"], step["obs"]) for step in session.steps()] for session in sessions]
    assert steps[0] == steps[1] != steps[2]
    assert sessions[0].events()[-1] == {"type": "bye", "outcome": "succeeded"}


def test_an_evaluation_seeds_every_episode_and_reports_a_summary(start: StartSession) -> None:
    """The given seeds, returns as metrics, and a summary at the end."""
    session = start("scripted", "CartPole-v1", mode="evaluate", seeds=[7, 3, 7])
    assert session.wait() == 0
    assert [start["seed"] for start in session.events("episode_start")] == [7, 3, 7]
    *per_episode, summary = [metric["values"] for metric in session.events("metric")]
    returns = [episode["return"] for episode in session.events("episode")]
    assert [values["episodic_return"] for values in per_episode] == returns
    assert [values["episodic_length"] for values in per_episode] == [
        episode["steps"] for episode in session.events("episode")
    ]
    assert summary["evaluation/episodes"] == 3
    assert summary["evaluation/mean_return"] == pytest.approx(sum(returns) / 3)
    assert (summary["evaluation/min_return"], summary["evaluation/max_return"]) == (
        min(returns),
        max(returns),
    )
    assert session.events("progress")[-1]["done"] == 3


def test_an_evaluation_without_seeds_increments_the_seed_of_the_run(start: StartSession) -> None:
    """Every episode has a different seed, and can be repeated."""
    session = start("random", COUNTING, mode="evaluate", env_kwargs={"length": 2}, episodes=3)
    assert session.wait() == 0
    assert [start["seed"] for start in session.events("episode_start")] == [5, 6, 7]


def test_an_actor_from_a_file_is_read_again_when_it_is_chosen_again(
    start: StartSession, tmp_path: Path
) -> None:
    """A user edits the file and selects it again, without a restart."""
    script = tmp_path / "mine.py"
    text = "class Mine:\n def __init__(self, env): pass\n def act(self, obs, info): return {}\n"
    script.write_text(text.format(1))
    name = f"scripted:{script}:Mine"
    session = start("scripted", COUNTING, actor=name, params={"start_paused": True})
    session.wait_for("status", state="paused")
    session.command("step")
    session.wait_for_steps(1)
    script.write_text(text.format(2))
    session.command("set_actor", actor=name)
    session.command("step")
    steps = session.wait_for_steps(2)
    assert [step["action"] for step in steps] == [1, 2]
    assert {step["actor"] for step in steps} == {name}


def test_a_recorded_episode_is_repeated(start: StartSession, tmp_path: Path) -> None:
    """Equal actions and seed give equal observations; too few actions pause the session."""
    first = start("random", "MountainCarContinuous-v0", total_timesteps=20, **FAST)
    assert first.wait() == 0
    actions = [step["action"] for step in first.steps()]
    recording = tmp_path / "recording.json"
    recording.write_text(
        json.dumps({"env_id": "MountainCarContinuous-v0", "seed": 5, "actions": actions})
    )
    params = {"recording": str(recording), "speed": 0}
    again = start("recorded", "MountainCarContinuous-v0", seed=99, params=params, lease_s=30.0)
    again.wait_for("status", state="paused")
    assert [step["obs"] for step in again.steps()] == [step["obs"] for step in first.steps()]
    assert "only 20 actions" in again.wait_for("log", code="W143")["message"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"algo": "recorded"}, "No recording is set"),
        ({"algo": "recorded", "actor": "recorded:/nowhere.json"}, "cannot be read"),
        ({"algo": "scripted"}, "There is no built-in script"),
        ({"algo": "scripted", "actor": "scripted:odd_actors"}, "is not the name of an actor"),
        ({"algo": "scripted", "params": {"script": "/nowhere.py:X"}}, "does not exist"),
        ({"algo": "random", "actor": "unknown"}, "Unknown actor 'unknown'"),
        ({"algo": "human", "params": {"idle_action": "nothing"}}, "not JSON"),
        ({"algo": "human", "params": {"idle_action": "9"}}, "9 is not an action"),
    ],
)
def test_a_session_that_cannot_start_has_an_error(
    start: StartSession, config: dict[str, Any], message: str
) -> None:
    """With a message and a remedy."""
    session = start(env_id=COUNTING, **config)
    assert session.wait() == 1
    bye = session.events()[-1]
    assert message in bye["error"]
    assert bye["remedy"]


@pytest.mark.parametrize(
    ("env_id", "env_kwargs", "min_return"),
    [
        ("CartPole-v1", {}, 475),
        ("MountainCar-v0", {}, -150),
        ("MountainCarContinuous-v0", {}, 85),
        ("LunarLander-v3", {}, 200),
        ("LunarLander-v3", {"continuous": True}, 200),
        ("FrozenLake-v1", {"is_slippery": False}, 1),
        ("FrozenLake-v1", {}, 0.5),
        ("CliffWalking-v1", {}, -13),
        ("Taxi-v4", {}, 6),
        ("Blackjack-v1", {}, -0.2),
    ],
)
def test_the_built_in_scripts_play_well(
    start: StartSession, env_id: str, env_kwargs: dict[str, Any], min_return: float
) -> None:
    """The mean return over fixed seeds is close to the threshold for learners."""
    episodes = 300 if env_id == "Blackjack-v1" else 30 if "Lake" in env_id else 5
    config = {"env_kwargs": env_kwargs, "seed": 0, "episodes": episodes}
    session = start("scripted", env_id, mode="evaluate", telemetry={"steps": "off"}, **config)
    assert session.wait() == 0, session.log.read_text()
    assert session.events("metric")[-1]["values"]["evaluation/mean_return"] >= min_return


def test_a_planner_reports_its_policy(start: StartSession) -> None:
    """Once, before the first step, with an action for every non-terminal state."""
    lake = {"desc": ["SF", "HG"], "is_slippery": False}
    session = start("scripted", "FrozenLake-v1", env_kwargs=lake, episodes=3, **FAST)
    assert session.wait() == 0
    (line,) = session.events("policy")
    assert line["actions"] == [2, 1, None, None]
    assert [len(values) for values in line["q_values"]] == [4] * 4
    assert max(line["q_values"][0]) == line["q_values"][0][2]
    assert (line["actor"], line["step"]) == ("scripted", 0)
    kinds = [event["type"] for event in session.events()]
    assert kinds.index("environment") < kinds.index("policy") < kinds.index("step")


def test_a_policy_is_reported_again_or_cleared(start: StartSession) -> None:
    """An actor without a policy clears it, and another map has another policy."""
    params = {"start_paused": True}
    lake = {"desc": ["SF", "HG"], "is_slippery": False}
    session = start("scripted", "FrozenLake-v1", env_kwargs=lake, params=params)
    session.wait_for("policy", actor="scripted")
    session.command("set_actor", actor="random")
    cleared = session.wait_for("policy", actor="random")
    assert "actions" not in cleared
    session.command("set_actor", actor="scripted")
    session.until(lambda: len(session.events("policy")) == 3, "the policy again")
    session.command("configure", env_kwargs={"desc": ["SH", "FG"], "is_slippery": False})
    session.command("reset")
    session.until(lambda: len(session.events("policy")) == 4, "the policy for the other map")
    assert [line.get("actions") for line in session.events("policy")] == [
        [2, 1, None, None],
        None,
        [2, 1, None, None],
        [1, None, 2, None],
    ]


def test_an_invalid_policy_is_logged_once(start: StartSession, tmp_path: Path) -> None:
    """The actor continues to play."""
    script = tmp_path / "mine.py"
    script.write_text(
        "class Mine:\n def __init__(self, env): pass\n def act(self, obs, info): return 0\n"
        " def policy(self): return {'actions': ['left']}\n"
    )
    name = f"scripted:{script}:Mine"
    session = start("scripted", COUNTING, actor=name, episodes=3, **FAST)
    assert session.wait() == 0
    (log_line,) = [line for line in session.events("log") if line["code"] == "W280"]
    assert "actions" in log_line["message"]
    assert not session.events("policy")
