"""What is learnt by table replays in the environment itself, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.recording.start_states import restore
from spade_bdi_rl_worker.learning.environment_world import EnvironmentWorld
from spade_bdi_rl_worker.learning.table_world import TableWorld

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENTS: list[tuple[str, dict[str, Any]]] = [
    ("FrozenLake-v1", {"is_slippery": True}),
    ("FrozenLake-v1", {"is_slippery": False, "map_name": "random", "map_size": 6}),
    ("CliffWalking-v1", {}),
    ("CliffWalkingSlippery-v1", {}),
    ("Taxi-v4", {}),
    ("Taxi-v4", {"is_rainy": True}),
]


def record(folder: Path, env_id: str, env_kwargs: Any, steps: str) -> LearningRun:
    config = {
        "env_id": env_id,
        "env_kwargs": env_kwargs,
        "seed": 5,
        "max_episodes": 60,
        "params": {"epsilon_start": 1.0, "epsilon_end": 0.1},
        "telemetry": {"steps": steps},
    }
    run = LearningRun(folder, config)
    learner = run.learner()
    learner.learn(40, always)
    learner.evaluate(3, always)
    learner.learn(20, always)
    run.finish(learner)
    return run


def made_again(run: LearningRun) -> Any:
    """The environment, from what the telemetry says of it."""
    made = run.lines("environment")[0]
    limit = made["max_episode_steps"]
    return make_environment(made["env_id"], made["env_kwargs"], max_episode_steps=limit)


def replayed(env: Any, episode: dict[str, Any], actions: list[int]) -> list[Any]:
    """What the environment gives for each action, when it begins as the episode did."""
    observation, _ = restore(env, episode.get("seed"), episode.get("start"))
    return [observation, *(env.step(action) for action in actions)]


@pytest.mark.parametrize(("env_id", "env_kwargs"), ENVIRONMENTS)
def test_columns_replay_with_the_same_rewards(
    tmp_path: Path, env_id: str, env_kwargs: dict[str, Any]
) -> None:
    """Actions and rewards are all there is, and the start of each episode is enough."""
    run = record(tmp_path, env_id, env_kwargs, "columns")
    columns: dict[str, list[tuple[int, float]]] = {}
    starts = {line["episode_id"]: line for line in run.lines("episode_start")}
    for line in [*run.lines("steps"), *run.lines("episode")]:
        pairs = zip(line.get("actions", []), line.get("rewards", []), strict=True)
        columns.setdefault(line["episode_id"], []).extend(pairs)
    episodes = run.lines("episode")
    assert len(episodes) == 63
    assert [line["episode"] for line in episodes] == list(range(63))

    env = made_again(run)
    for episode in episodes:
        steps = columns[episode["episode_id"]]
        begun = starts.get(episode["episode_id"], episode)
        came = replayed(env, begun, [action for action, _ in steps])
        assert [reward for _, reward in steps] == [reward for _, reward, _, _, _ in came[1:]]
        assert len(steps) == episode["steps"]
        assert came[-1][2:4] == (episode["terminated"], episode["truncated"])


@pytest.mark.parametrize(("env_id", "env_kwargs"), [ENVIRONMENTS[0], ENVIRONMENTS[5]])
def test_single_steps_are_those_of_the_environment(
    tmp_path: Path, env_id: str, env_kwargs: dict[str, Any]
) -> None:
    """Observation, reward, flags and info, and what is seen before the first step."""
    run = record(tmp_path, env_id, env_kwargs, "all")
    starts = run.lines("episode_start")
    steps = run.lines("step")
    assert len(run.lines("episode")) == 63

    env = made_again(run)
    for start in starts[:20] + starts[-3:]:
        told = [step for step in steps if step["episode_id"] == start["episode_id"]]
        came = replayed(env, start, [step["action"] for step in told])
        assert start["obs"] == came[0]
        for step, (obs, reward, terminated, truncated, info) in zip(told, came[1:], strict=True):
            assert (step["obs"], step["reward"]) == (obs, reward)
            assert (step["terminated"], step["truncated"]) == (terminated, truncated)
            assert step["info"]["prob"] == pytest.approx(info["prob"])
            assert step["info"].get("action_mask") == (
                info["action_mask"].tolist() if "action_mask" in info else None
            )


@pytest.mark.parametrize("detail", ["columns", "sampled", "all"])
def test_by_table_is_what_the_environment_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detail: str
) -> None:
    """The same seed learns the same table from the same episodes, and tells the same of them."""

    def learnt(folder: Path) -> tuple[Any, Any, list[dict[str, Any]]]:
        run = LearningRun(
            folder,
            {
                "env_id": "FrozenLake-v1",
                "seed": 3,
                "max_episodes": 200,
                "telemetry": {"steps": detail},
            },
        )
        learner = run.learner()
        learner.learn(200, always)
        world, rows = learner._world, learner.method.values.rows
        run.finish(learner)
        lines = [*run.lines("episode"), *run.lines("step")]
        moments = ("t", "t_end", "start", "seed", "first", "actions", "rewards")
        return world, rows, [{k: v for k, v in each.items() if k not in moments} for each in lines]

    fast, fast_rows, fast_lines = learnt(tmp_path / "fast")
    monkeypatch.setattr("spade_bdi_rl_worker.learning.making.read_table", lambda *_: None)
    slow, slow_rows, slow_lines = learnt(tmp_path / "slow")

    assert isinstance(fast, TableWorld)
    assert isinstance(slow, EnvironmentWorld)
    assert fast_rows == slow_rows
    assert fast_lines == slow_lines
    assert len(fast_lines) >= 200


def test_an_environment_that_does_not_keep_to_its_table_is_stepped_itself(tmp_path: Path) -> None:
    """A fickle passenger changes his mind with random numbers that the table does not know of."""
    run = LearningRun(
        tmp_path,
        {"env_id": "Taxi-v4", "env_kwargs": {"fickle_passenger": True}, "max_episodes": 3},
    )
    learner = run.learner()
    learner.learn(3, always)

    assert isinstance(learner._world, EnvironmentWorld)
    run.finish(learner)
    assert len(run.lines("episode")) == 3
