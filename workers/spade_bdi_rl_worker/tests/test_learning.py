"""The presets of each environment learn it, with several seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

if TYPE_CHECKING:
    from pathlib import Path

    from spade_bdi_rl_worker.learning.learner import EvaluationResult

SEEDS = (1, 2, 3)


def train(folder: Path, episodes: int, **config: Any) -> EvaluationResult:
    """Train with presets only, and return the evaluation."""
    run = LearningRun(folder, {**config, "telemetry": {"steps": "off"}})
    learner = run.learner()
    while not learner.progress.is_complete:
        learner.learn(5_000, always)
    result = learner.evaluate(episodes, always)
    run.finish(learner)
    return result


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "FrozenLake8x8-v1"])
def test_frozen_lake_without_slippery_ice_is_solved(tmp_path: Path, env_id: str, seed: int) -> None:
    """All of 100 evaluation episodes succeed on a shortest path."""
    result = train(tmp_path, 100, env_id=env_id, env_kwargs={"is_slippery": False}, seed=seed)
    assert result.success_rate == 1.0
    assert result.mean_length == (6 if env_id == "FrozenLake-v1" else 14)


@pytest.mark.parametrize("seed", SEEDS)
def test_slippery_frozen_lake_is_solved_near_the_optimum(tmp_path: Path, seed: int) -> None:
    """The optimal success rate is about 0.74."""
    result = train(tmp_path, 1000, env_id="FrozenLake-v1", seed=seed)
    assert result.success_rate >= 0.70


@pytest.mark.parametrize("seed", SEEDS)
def test_cliff_walking_finds_the_shortest_path(tmp_path: Path, seed: int) -> None:
    """Thirteen steps with reward -1 each."""
    assert train(tmp_path, 10, env_id="CliffWalking-v1", seed=seed).mean_return == -13


@pytest.mark.parametrize("seed", SEEDS)
def test_taxi_reaches_a_mean_return_of_seven(tmp_path: Path, seed: int) -> None:
    """The optimum is 7.9 to 8."""
    assert train(tmp_path, 1000, env_id="Taxi-v4", seed=seed).mean_return >= 7


@pytest.mark.parametrize("algo", ["double_q_learning", "sarsa"])
def test_the_other_methods_learn(tmp_path: Path, algo: str) -> None:
    """Each with the presets of the environment."""
    lake = {"env_id": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}}
    assert train(tmp_path / "lake", 20, algo=algo, **lake).success_rate == 1.0
    assert train(tmp_path / "taxi", 500, algo=algo, env_id="Taxi-v4").mean_return >= 7


def test_a_custom_map_is_learned(tmp_path: Path) -> None:
    """With one narrow path around the holes."""
    desc = ["SFFFFF", "HHHHHF", "FFFFFF", "FHHHHH", "FFFFFG"]
    kwargs = {"desc": desc, "is_slippery": False}
    assert train(tmp_path, 10, env_id="FrozenLake-v1", env_kwargs=kwargs).success_rate == 1.0


def test_blackjack_is_better_than_random(tmp_path: Path) -> None:
    """Its observations are tuples, and it has no transition table."""
    result = train(tmp_path, 2_000, env_id="Blackjack-v1", max_episodes=6_000)
    assert result.mean_return > -0.25  # at random: -0.4


def test_a_minigrid_is_learned_from_hashed_states(tmp_path: Path) -> None:
    """States are numbered while learning."""
    pytest.importorskip("minigrid")
    result = train(tmp_path, 3, env_id="MiniGrid-Empty-5x5-v0", max_episodes=200)
    assert result.success_rate == 1.0
