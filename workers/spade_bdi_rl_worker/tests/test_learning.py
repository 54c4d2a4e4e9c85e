"""With what suits an environment, the agent's table learns it; whatever the seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

if TYPE_CHECKING:
    from pathlib import Path

    from spade_bdi_rl_worker.learning.learner import Score

SEEDS = (1, 2, 3)


def learnt(folder: Path, episodes: int, **config: Any) -> Score:
    """The score of a whole training with nothing set."""
    run = LearningRun(folder, {**config, "telemetry": {"steps": "off"}})
    learner = run.learner()
    while not learner.progress.is_complete:
        learner.learn(5_000, always)
    score = learner.evaluate(episodes, always)
    run.finish(learner)
    return score


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "FrozenLake8x8-v1"])
def test_a_lake_that_is_not_slippery_is_crossed_every_time(
    tmp_path: Path, env_id: str, seed: int
) -> None:
    """All of 100 evaluation episodes, by a shortest path."""
    score = learnt(tmp_path, 100, env_id=env_id, env_kwargs={"is_slippery": False}, seed=seed)
    assert score.success_rate == 1.0
    assert score.mean_length == (6 if env_id == "FrozenLake-v1" else 14)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_slippery_lake_is_crossed_as_often_as_can_be_expected(tmp_path: Path, seed: int) -> None:
    """Nobody crosses it every time; the best do three times in four."""
    score = learnt(tmp_path, 1000, env_id="FrozenLake-v1", seed=seed)
    assert score.success_rate >= 0.70


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cliff_is_passed_on_the_shortest_way(tmp_path: Path, seed: int) -> None:
    """Thirteen steps, each of which costs one."""
    assert learnt(tmp_path, 10, env_id="CliffWalking-v1", seed=seed).mean_return == -13


@pytest.mark.parametrize("seed", SEEDS)
def test_the_taxi_delivers(tmp_path: Path, seed: int) -> None:
    """Seven or more on average; the optimum is 7.9 to 8."""
    assert learnt(tmp_path, 1000, env_id="Taxi-v4", seed=seed).mean_return >= 7


@pytest.mark.parametrize("algo", ["double_q_learning", "sarsa"])
def test_the_other_methods_learn_as_well(tmp_path: Path, algo: str) -> None:
    """Each with what suits the environment."""
    dry = {"env_id": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}
    assert learnt(tmp_path / "dry", 20, algo=algo, **dry).success_rate == 1.0
    assert learnt(tmp_path / "taxi", 500, algo=algo, env_id="Taxi-v4").mean_return >= 7


def test_a_map_of_ones_own_is_learnt(tmp_path: Path) -> None:
    """Drawn by a person, with one narrow way around the holes."""
    drawn = ["SFFFFF", "HHHHHF", "FFFFFF", "FHHHHH", "FFFFFG"]
    kwargs = {"desc": drawn, "is_slippery": False}
    assert learnt(tmp_path, 10, env_id="FrozenLake-v1", env_kwargs=kwargs).success_rate == 1.0


def test_blackjack_is_played_better_than_at_random(tmp_path: Path) -> None:
    """Its states are tuples, and it has no table: a few thousand hands beat chance by far."""
    score = learnt(tmp_path, 2_000, env_id="Blackjack-v1", max_episodes=6_000)
    assert score.mean_return > -0.25  # at random: -0.4


def test_a_minigrid_is_learnt_by_the_hash_of_its_states(tmp_path: Path) -> None:
    """Which states there are is found out while learning."""
    pytest.importorskip("minigrid")
    score = learnt(tmp_path, 3, env_id="MiniGrid-Empty-5x5-v0", max_episodes=200)
    assert score.success_rate == 1.0
