"""Episodes simulated from a transition table replay exactly in the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.recording.start_states import restore
from spade_bdi_rl_worker.learning.tabular_env import GymEnv
from spade_bdi_rl_worker.learning.transition_table_env import TransitionTableEnv

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


def recreate_env(run: LearningRun) -> Any:
    """Create the environment again from its telemetry."""
    line = run.lines("environment")[0]
    limit = line["max_episode_steps"]
    return make_environment(line["env_id"], line["env_kwargs"], max_episode_steps=limit)


def replay(env: Any, episode: dict[str, Any], actions: list[int]) -> list[Any]:
    """Return the environment's results for the actions, from the episode's start."""
    observation, _ = restore(env, episode.get("seed"), episode.get("start"))
    return [observation, *(env.step(action) for action in actions)]


@pytest.mark.parametrize(("env_id", "env_kwargs"), ENVIRONMENTS)
def test_columns_replay_with_the_same_rewards(
    tmp_path: Path, env_id: str, env_kwargs: dict[str, Any]
) -> None:
    """The recorded actions are replayed from the start of each episode."""
    run = record(tmp_path, env_id, env_kwargs, "columns")
    columns: dict[str, list[tuple[int, float]]] = {}
    starts = {line["episode_id"]: line for line in run.lines("episode_start")}
    for line in [*run.lines("steps"), *run.lines("episode")]:
        pairs = zip(line.get("actions", []), line.get("rewards", []), strict=True)
        columns.setdefault(line["episode_id"], []).extend(pairs)
    episodes = run.lines("episode")
    assert len(episodes) == 63
    assert [line["episode"] for line in episodes] == list(range(63))

    env = recreate_env(run)
    for episode in episodes:
        steps = columns[episode["episode_id"]]
        start = starts.get(episode["episode_id"], episode)
        results = replay(env, start, [action for action, _ in steps])
        assert [reward for _, reward in steps] == [reward for _, reward, _, _, _ in results[1:]]
        assert len(steps) == episode["steps"]
        assert results[-1][2:4] == (episode["terminated"], episode["truncated"])


@pytest.mark.parametrize(("env_id", "env_kwargs"), [ENVIRONMENTS[0], ENVIRONMENTS[5]])
def test_recorded_steps_match_the_environment(
    tmp_path: Path, env_id: str, env_kwargs: dict[str, Any]
) -> None:
    """Observation, reward, flags and info, and the first observation."""
    run = record(tmp_path, env_id, env_kwargs, "all")
    starts = run.lines("episode_start")
    steps = run.lines("step")
    assert len(run.lines("episode")) == 63

    env = recreate_env(run)
    for start in starts[:20] + starts[-3:]:
        recorded = [step for step in steps if step["episode_id"] == start["episode_id"]]
        results = replay(env, start, [step["action"] for step in recorded])
        assert start["obs"] == results[0]
        for step, (obs, reward, terminated, truncated, info) in zip(
            recorded, results[1:], strict=True
        ):
            assert (step["obs"], step["reward"]) == (obs, reward)
            assert (step["terminated"], step["truncated"]) == (terminated, truncated)
            assert step["info"]["prob"] == pytest.approx(info["prob"])
            assert step["info"].get("action_mask") == (
                info["action_mask"].tolist() if "action_mask" in info else None
            )


@pytest.mark.parametrize("detail", ["columns", "sampled", "all"])
def test_simulation_and_environment_learn_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detail: str
) -> None:
    """With the same seed, table, episodes and events are equal."""

    def train(folder: Path) -> tuple[Any, Any, list[dict[str, Any]]]:
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
        env, rows = learner._env, learner.method.values.rows
        run.finish(learner)
        lines = [*run.lines("episode"), *run.lines("step")]
        volatile = ("t", "t_end", "start", "seed", "first", "actions", "rewards")
        return env, rows, [{k: v for k, v in line.items() if k not in volatile} for line in lines]

    fast, fast_rows, fast_lines = train(tmp_path / "fast")
    monkeypatch.setattr(
        "spade_bdi_rl_worker.learning.learner_factory.read_transition_table", lambda *_: None
    )
    slow, slow_rows, slow_lines = train(tmp_path / "slow")

    assert isinstance(fast, TransitionTableEnv)
    assert isinstance(slow, GymEnv)
    assert fast_rows == slow_rows
    assert fast_lines == slow_lines
    assert len(fast_lines) >= 200


def test_an_environment_that_deviates_from_its_table_is_stepped(tmp_path: Path) -> None:
    """A fickle passenger uses random numbers that are not part of the table."""
    run = LearningRun(
        tmp_path,
        {"env_id": "Taxi-v4", "env_kwargs": {"fickle_passenger": True}, "max_episodes": 3},
    )
    learner = run.learner()
    learner.learn(3, always)

    assert isinstance(learner._env, GymEnv)
    run.finish(learner)
    assert len(run.lines("episode")) == 3
