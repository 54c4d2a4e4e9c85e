"""Tables on the disk: whole, of one environment, and begun from again."""

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

DRY = {
    "env_id": "FrozenLake-v1",
    "env_kwargs": {"is_slippery": False},
    "telemetry": {"steps": "off"},
}


def saved(folder: Path, episodes: int = 500, **config: Any) -> Path:
    run = LearningRun(folder, {**DRY, "max_episodes": episodes, **config})
    learner = run.learner()
    learner.learn(episodes, always)
    path = learner.save("at the end")
    run.finish(learner)
    return path


def begun(folder: Path, checkpoint: Path, **config: Any) -> LearningRun:
    return LearningRun(folder, {**DRY, "max_episodes": 10, **config}, checkpoint)


def test_a_file_says_what_it_is_of(tmp_path: Path) -> None:
    """A person can read where, how and how far it was learnt."""
    path = saved(tmp_path, seed=4)
    held = read_table_file(path)

    assert (held.env_id, held.seed, held.episodes) == ("FrozenLake-v1", 4, 500)
    assert held.environment["map"] == ["SFFF", "FHFH", "FFFH", "HFFG"]
    assert held.env_kwargs["is_slippery"] is False
    assert held.parameters["learning_rate"] == 0.8
    assert len(held.tables[0]) == 16
    assert sum(held.tries) == held.steps


def test_a_training_begins_with_a_saved_table(tmp_path: Path) -> None:
    """It succeeds from its first episodes on."""
    path = saved(tmp_path / "first", 2_000)
    run = begun(tmp_path / "second", path, params={"epsilon_start": 0.0, "epsilon_end": 0.0})
    learner = run.learner()

    assert learner.learn(10, always).success_rate == 1.0
    run.finish(learner)
    assert "last.json" in run.outlet.sentences[0] or path.name in run.outlet.sentences[0]


@pytest.mark.parametrize(
    ("params", "epsilon"),
    [
        ({}, 0.1),
        ({"epsilon_end": 0.3}, 0.3),
        ({"epsilon_start": 0.9}, 0.9),
    ],
)
def test_a_training_that_begins_with_a_table_explores_little(
    tmp_path: Path, params: dict[str, float], epsilon: float
) -> None:
    """As at the end of a training, and a bit at least; what a person sets stays."""
    path = saved(tmp_path / "first", 50)
    run = begun(tmp_path / "second", path, params=params)
    learner = run.learner()
    anew = LearningRun(tmp_path / "third", DRY)

    assert learner.progress.epsilon == epsilon
    assert anew.config.params["epsilon_start"] == 1.0
    run.finish(learner)
    anew.close()


@pytest.mark.parametrize("algo", ["double_q_learning", "sarsa"])
def test_a_table_of_another_method_is_taken_over(tmp_path: Path, algo: str) -> None:
    """What is known stays known."""
    path = saved(tmp_path / "first", 2_000)
    run = begun(tmp_path / "second", path, algo=algo)
    learner = run.learner()

    assert learner.evaluate(5, always).success_rate == 1.0
    run.finish(learner)


def test_other_dynamics_on_the_same_map_are_no_obstacle(tmp_path: Path) -> None:
    """What was learnt on dry ice is a good beginning on slippery ice."""
    path = saved(tmp_path / "first")
    run = begun(tmp_path / "second", path, env_kwargs={"is_slippery": True})
    run.finish(run.learner())


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"env_id": "Taxi-v4", "env_kwargs": {}}, "this is Taxi-v4"),
        ({"env_id": "FrozenLake8x8-v1"}, "another map"),
        ({"env_kwargs": {"desc": ["SFFF", "FFFF", "FFFF", "FFFG"]}}, "another map"),
    ],
)
def test_a_table_of_another_environment_is_refused(
    tmp_path: Path, config: dict[str, Any], words: str
) -> None:
    """Also where there are as many states; the remedy says where it belongs."""
    path = saved(tmp_path / "first")
    run = begun(tmp_path / "second", path, **config)

    with closing(run), pytest.raises(WorkerError, match=words) as caught:
        run.learner()
    assert "FrozenLake-v1 (is_slippery False, map_name 4x4)" in caught.value.remedy


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """One value that was changed is enough."""
    path = saved(tmp_path)
    document = json.loads(path.read_text())
    document["tables"][0][0][0] += 1.0
    path.write_text(json.dumps(document))

    with pytest.raises(WorkerError, match="damaged"):
        read_table_file(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\x80\x04 no JSON", "cannot be read"), (b'{"policy": []}', "no checkpoint of this worker")],
)
def test_a_file_of_another_program_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    """With a remedy, and without a traceback."""
    path = tmp_path / "policy.pt"
    path.write_bytes(content)
    with pytest.raises(WorkerError, match=words) as caught:
        read_table_file(path)
    assert "spade_bdi_rl_worker" in caught.value.remedy


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A run that names a checkpoint which was deleted says so."""
    with pytest.raises(WorkerError, match=r"no checkpoint .*gone\.json"):
        read_table_file(tmp_path / "gone.json")


def test_tables_are_saved_on_schedule_and_only_the_newest_kept(tmp_path: Path) -> None:
    """The last and the best of them have names that stay."""
    every = {"checkpoints": {"every_steps": 500, "keep": 2}}
    run = LearningRun(tmp_path, {**DRY, "max_episodes": 400, "artifacts": every})
    learner = run.learner()
    learner.learn(400, always)
    last = learner.save("at the end")
    assert learner.save("at the end") == last  # nothing has happened since
    run.finish(learner)

    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert len([name for name in names if name.startswith("step-")]) == 2
    assert {"last.json", "best.json"} <= set(names)
    told = run.lines("artifact")
    assert len({line["path"] for line in told if "step-" in line["path"]}) >= 4
    assert told[-1]["meta"]["algo"] == "q_learning"
    assert read_table_file(tmp_path / "checkpoints" / "last.json") == read_table_file(last)


def test_states_that_were_met_keep_their_numbers(tmp_path: Path) -> None:
    """Of a MiniGrid only the hash of a state says which one it is."""
    pytest.importorskip("minigrid")
    grid = {"env_id": "MiniGrid-Empty-5x5-v0", "env_kwargs": {}}
    path = saved(tmp_path / "first", 200, **grid)
    run = begun(tmp_path / "second", path, **grid)
    learner = run.learner()

    assert learner.encoding.names == read_table_file(path).names
    assert learner.evaluate(2, always).success_rate == 1.0
    run.finish(learner)
