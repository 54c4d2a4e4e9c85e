"""Checkpoints: content, integrity, compatibility, schedule and warm start."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.checkpoints.table_file import read_table_file

if TYPE_CHECKING:
    from pathlib import Path

NOT_SLIPPERY = {
    "env_id": "FrozenLake-v1",
    "env_kwargs": {"is_slippery": False},
    "telemetry": {"steps": "off"},
}


def save_trained(folder: Path, episodes: int = 500, **config: Any) -> Path:
    run = LearningRun(folder, {**NOT_SLIPPERY, "max_episodes": episodes, **config})
    learner = run.learner()
    learner.learn(episodes, always)
    path = learner.save("at the end")
    run.finish(learner)
    return path


def warm_run(folder: Path, checkpoint: Path, **config: Any) -> LearningRun:
    return LearningRun(folder, {**NOT_SLIPPERY, "max_episodes": 10, **config}, checkpoint)


def test_a_checkpoint_describes_its_origin(tmp_path: Path) -> None:
    """Environment, parameters, seed and progress."""
    path = save_trained(tmp_path, seed=4)
    checkpoint = read_table_file(path)

    assert (checkpoint.env_id, checkpoint.seed, checkpoint.episodes) == ("FrozenLake-v1", 4, 500)
    assert checkpoint.environment["map"] == ["SFFF", "FHFH", "FFFH", "HFFG"]
    assert checkpoint.env_kwargs["is_slippery"] is False
    assert checkpoint.parameters["learning_rate"] == 0.8
    assert len(checkpoint.tables[0]) == 16
    assert sum(checkpoint.tries) == checkpoint.steps


def test_the_keys_of_the_file_are_stable(tmp_path: Path) -> None:
    """Files of other versions must stay readable."""
    document = json.loads(save_trained(tmp_path, 20).read_text())

    assert set(document) == {
        "format", "version", "worker_version", "sha256", "algo", "parameters", "seed", "episodes",
        "steps", "success_rate", "mean_return", "env_id", "env_kwargs", "environment", "names",
        "tables", "tries",
    }  # fmt: skip
    assert document["format"] == "mosaic-q-table"
    assert set(document["environment"]) == {
        "class", "encoding", "observation_space", "action_space", "map",
    }  # fmt: skip


def test_training_starts_from_a_checkpoint(tmp_path: Path) -> None:
    """It succeeds from its first episode."""
    path = save_trained(tmp_path / "first", 2_000)
    run = warm_run(tmp_path / "second", path, params={"epsilon_start": 0.0, "epsilon_end": 0.0})
    learner = run.learner()

    assert learner.learn(10, always).success_rate == 1.0
    run.finish(learner)
    assert path.name in run.sink.messages[0]


@pytest.mark.parametrize(
    ("params", "epsilon"),
    [
        ({}, 0.1),
        ({"epsilon_end": 0.3}, 0.3),
        ({"epsilon_start": 0.9}, 0.9),
    ],
)
def test_a_warm_start_lowers_epsilon(
    tmp_path: Path, params: dict[str, float], epsilon: float
) -> None:
    """To 0.1, or to the final epsilon if that is larger; a value set by the user stays."""
    path = save_trained(tmp_path / "first", 50)
    run = warm_run(tmp_path / "second", path, params=params)
    learner = run.learner()
    cold_run = LearningRun(tmp_path / "third", NOT_SLIPPERY)

    assert learner.progress.epsilon == epsilon
    assert cold_run.config.params["epsilon_start"] == 1.0
    run.finish(learner)
    cold_run.close()


@pytest.mark.parametrize("algo", ["double_q_learning", "sarsa"])
def test_a_table_of_another_method_is_loaded(tmp_path: Path, algo: str) -> None:
    """Its greedy policy stays the same."""
    path = save_trained(tmp_path / "first", 2_000)
    run = warm_run(tmp_path / "second", path, algo=algo)
    learner = run.learner()

    assert learner.evaluate(5, always).success_rate == 1.0
    run.finish(learner)


def test_the_same_map_with_other_dynamics_is_compatible(tmp_path: Path) -> None:
    """Training on slippery ice can start from a table for the same map without it."""
    path = save_trained(tmp_path / "first")
    run = warm_run(tmp_path / "second", path, env_kwargs={"is_slippery": True})
    run.finish(run.learner())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"env_id": "Taxi-v4", "env_kwargs": {}}, "this environment is Taxi-v4"),
        ({"env_id": "FrozenLake8x8-v1"}, "another map"),
        ({"env_kwargs": {"desc": ["SFFF", "FFFF", "FFFF", "FFFG"]}}, "another map"),
    ],
)
def test_a_table_of_another_environment_is_rejected(
    tmp_path: Path, config: dict[str, Any], message: str
) -> None:
    """Even with the same number of states; the remedy names its environment."""
    path = save_trained(tmp_path / "first")
    run = warm_run(tmp_path / "second", path, **config)

    with closing(run), pytest.raises(WorkerError, match=message) as caught:
        run.learner()
    assert "FrozenLake-v1 (is_slippery False, map_name 4x4)" in caught.value.remedy


def test_a_damaged_file_is_rejected(tmp_path: Path) -> None:
    """A single changed value is detected."""
    path = save_trained(tmp_path)
    document = json.loads(path.read_text())
    document["tables"][0][0][0] += 1.0
    path.write_text(json.dumps(document))

    with pytest.raises(WorkerError, match="damaged"):
        read_table_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x04 no JSON", "cannot be read"),
        (b'{"policy": []}', "not a checkpoint of this worker"),
    ],
)
def test_a_file_of_another_program_is_rejected(
    tmp_path: Path, content: bytes, message: str
) -> None:
    """The error has a remedy."""
    path = tmp_path / "policy.pt"
    path.write_bytes(content)
    with pytest.raises(WorkerError, match=message) as caught:
        read_table_file(path)
    assert "spade_bdi_rl_worker" in caught.value.remedy


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """The error contains the path of a deleted checkpoint."""
    with pytest.raises(WorkerError, match=r"no checkpoint .*gone\.json"):
        read_table_file(tmp_path / "gone.json")


def test_scheduled_checkpoints_are_rotated(tmp_path: Path) -> None:
    """The last and the best checkpoint keep fixed names."""
    every = {"checkpoints": {"every_steps": 500, "keep": 2}}
    run = LearningRun(tmp_path, {**NOT_SLIPPERY, "max_episodes": 400, "artifacts": every})
    learner = run.learner()
    learner.learn(400, always)
    last = learner.save("at the end")
    assert learner.save("at the end") == last  # no steps since
    run.finish(learner)

    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert len([name for name in names if name.startswith("step-")]) == 2
    assert {"last.json", "best.json"} <= set(names)
    artifacts = run.lines("artifact")
    assert len({line["path"] for line in artifacts if "step-" in line["path"]}) >= 4
    assert artifacts[-1]["meta"]["algo"] == "q_learning"
    assert read_table_file(tmp_path / "checkpoints" / "last.json") == read_table_file(last)


def test_visited_states_keep_their_indices(tmp_path: Path) -> None:
    """States of a MiniGrid are identified by their hash."""
    pytest.importorskip("minigrid")
    grid = {"env_id": "MiniGrid-Empty-5x5-v0", "env_kwargs": {}}
    path = save_trained(tmp_path / "first", 200, **grid)
    run = warm_run(tmp_path / "second", path, **grid)
    learner = run.learner()

    assert learner.encoding.names == read_table_file(path).names
    assert learner.evaluate(2, always).success_rate == 1.0
    run.finish(learner)
