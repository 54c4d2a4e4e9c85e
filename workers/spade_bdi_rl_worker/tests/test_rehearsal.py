"""A dry run finds what would end a run at its start, and says it in the run's own sentences.

What it finds in plans needs AgentSpeak: `with_spade/test_dry_run.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from mosaic_worker.errors import WorkerError
from mosaic_worker.run import CHECKPOINT_VARIABLE
from mosaic_worker.run_config import resolve
from spade_bdi_rl_worker.descriptor import describe
from spade_bdi_rl_worker.rehearsal import rehearse

if TYPE_CHECKING:
    from pathlib import Path

    from mosaic_worker import RunConfig

LAKE = {"env_id": "FrozenLake-v1"}


def rehearsed(**config: Any) -> RunConfig:
    return rehearse(resolve({"algo": "q_learning", **LAKE, **config}, describe()))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Learnt on the lake of 4x4."""
    run = LearningRun(tmp_path / "first", {**LAKE, "telemetry": {"steps": "off"}})
    learner = run.learner()
    learner.learn(20, always)
    path = learner.save("at the end")
    run.finish(learner)
    return path


@pytest.mark.parametrize(
    ("config", "words", "remedy"),
    [
        ({"env_id": "FrozenLak-v1"}, "Unknown environment FrozenLak-v1", "FrozenLake-v1"),
        ({"env_kwargs": {"is_slipery": False}}, "no argument 'is_slipery'", "is_slippery"),
        ({"env_kwargs": {"map_name": "5x5"}}, "5x5", "."),
        ({"env_id": "CartPole-v1"}, "shows Box observations", "cleanrl_worker"),
        ({"env_id": "Pendulum-v1"}, "no discrete actions", "FrozenLake"),
        ({"params": {"asl": "/nowhere/mine.asl"}}, "no file /nowhere/mine.asl", "whole path"),
        ({"mode": "evaluate", "env_id": "CartPole-v1"}, "shows Box observations", "cleanrl_worker"),
    ],
)
def test_what_would_fail_is_found(config: dict[str, Any], words: str, remedy: str) -> None:
    """And no traceback would come below what is clear already."""
    with pytest.raises(WorkerError, match=words) as caught:
        rehearsed(**config)

    assert remedy in caught.value.remedy
    assert caught.value.__cause__ is None


@pytest.mark.filterwarnings("ignore:.*out of date")
def test_an_old_version_is_told_with_the_new_one() -> None:
    """The environment's settings are not to blame."""
    with pytest.raises(WorkerError, match="CliffWalking-v0 is an old version") as caught:
        rehearsed(env_id="CliffWalking-v0")

    assert caught.value.remedy == "Use CliffWalking-v1."


@pytest.mark.parametrize("mode", ["train", "evaluate"])
def test_a_checkpoint_of_another_map_is_found(
    monkeypatch: pytest.MonkeyPatch, table: Path, mode: str
) -> None:
    """To begin with as well as to play with."""
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(table))

    with pytest.raises(WorkerError, match="another map"):
        rehearsed(env_id="FrozenLake8x8-v1", mode=mode)


def test_a_checkpoint_that_fits_is_begun_with(monkeypatch: pytest.MonkeyPatch, table: Path) -> None:
    """The values are those of a run that knows much already."""
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(table))

    assert rehearsed().params["epsilon_start"] == 0.1


def test_a_warm_start_that_the_trainer_will_find_is_counted_with() -> None:
    """Before a run is made there is only the checkpoint's id."""
    assert rehearsed(warm_start="01JCHECKPOINT").params["epsilon_start"] == 0.1
    assert rehearsed().params["epsilon_start"] == 1.0


def test_what_an_environment_of_ones_own_raised_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place in a person's own code is worth a look."""
    (tmp_path / "broken_lake.py").write_text(
        "import gymnasium\n"
        "class Broken(gymnasium.Env):\n"
        "    def __init__(self):\n"
        "        raise ValueError('no water')\n"
        "gymnasium.register('BrokenLake-v0', entry_point=Broken)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(WorkerError, match="no water") as caught:
        rehearsed(env_id="broken_lake:BrokenLake-v0")
    assert isinstance(caught.value.__cause__, ValueError)
