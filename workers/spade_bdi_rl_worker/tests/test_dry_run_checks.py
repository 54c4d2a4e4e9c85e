"""A dry run reports the errors with which a run would fail at its start.

Checks of plans need AgentSpeak: `with_spade/test_dry_run.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from mosaic_worker.errors import WorkerError
from mosaic_worker.run import CHECKPOINT_VARIABLE
from mosaic_worker.run_config import resolve
from spade_bdi_rl_worker.descriptor import describe
from spade_bdi_rl_worker.dry_run import check_run

if TYPE_CHECKING:
    from pathlib import Path

    from mosaic_worker import RunConfig

LAKE = {"env_id": "FrozenLake-v1"}


def dry_run(**config: Any) -> RunConfig:
    return check_run(resolve({"algo": "q_learning", **LAKE, **config}, describe()))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table trained on the 4x4 lake."""
    run = LearningRun(tmp_path / "first", {**LAKE, "telemetry": {"steps": "off"}})
    learner = run.learner()
    learner.learn(20, always)
    path = learner.save("at the end")
    run.finish(learner)
    return path


@pytest.mark.parametrize(
    ("config", "message", "remedy"),
    [
        ({"env_id": "FrozenLak-v1"}, "Unknown environment FrozenLak-v1", "FrozenLake-v1"),
        ({"env_kwargs": {"is_slipery": False}}, "no argument 'is_slipery'", "is_slippery"),
        ({"env_kwargs": {"map_name": "5x5"}}, "5x5", "."),
        ({"env_id": "CartPole-v1"}, "has Box observations", "cleanrl_worker"),
        ({"env_id": "Pendulum-v1"}, "no discrete action space", "FrozenLake"),
        ({"params": {"asl": "/nowhere/mine.asl"}}, "no file /nowhere/mine.asl", "absolute path"),
        ({"mode": "evaluate", "env_id": "CartPole-v1"}, "has Box observations", "cleanrl_worker"),
    ],
)
def test_configuration_errors_are_reported(
    config: dict[str, Any], message: str, remedy: str
) -> None:
    """The errors have no traceback."""
    with pytest.raises(WorkerError, match=message) as caught:
        dry_run(**config)

    assert remedy in caught.value.remedy
    assert caught.value.__cause__ is None


@pytest.mark.filterwarnings("ignore:.*out of date")
def test_a_deprecated_version_is_reported_with_its_replacement() -> None:
    """It is not reported as an error in the environment's arguments."""
    with pytest.raises(WorkerError, match="CliffWalking-v0 is a deprecated version") as caught:
        dry_run(env_id="CliffWalking-v0")

    assert caught.value.remedy == "Use CliffWalking-v1."


@pytest.mark.parametrize("mode", ["train", "evaluate"])
def test_a_checkpoint_of_another_map_is_reported(
    monkeypatch: pytest.MonkeyPatch, table: Path, mode: str
) -> None:
    """Both for a warm start and for playing."""
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(table))

    with pytest.raises(WorkerError, match="another map"):
        dry_run(env_id="FrozenLake8x8-v1", mode=mode)


def test_a_compatible_checkpoint_is_a_warm_start(
    monkeypatch: pytest.MonkeyPatch, table: Path
) -> None:
    """The presets are those of a warm start."""
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(table))

    assert dry_run().params["epsilon_start"] == 0.1


def test_a_warm_start_by_checkpoint_id() -> None:
    """Before a run exists, only the checkpoint's id is known."""
    assert dry_run(warm_start="01JCHECKPOINT").params["epsilon_start"] == 0.1
    assert dry_run().params["epsilon_start"] == 1.0


def test_an_exception_of_a_custom_environment_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The traceback shows the line in the user's code."""
    (tmp_path / "broken_lake.py").write_text(
        "import gymnasium\n"
        "class Broken(gymnasium.Env):\n"
        "    def __init__(self):\n"
        "        raise ValueError('broken')\n"
        "gymnasium.register('BrokenLake-v0', entry_point=Broken)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(WorkerError, match="ValueError: broken") as caught:
        dry_run(env_id="broken_lake:BrokenLake-v0")
    assert isinstance(caught.value.__cause__, ValueError)
