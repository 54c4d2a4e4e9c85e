"""Failures of a training, and their error messages."""

import pytest

from mosaic.client.errors import TrainerError
from tests.workers.cleanrl.conftest import Training

pytestmark = pytest.mark.process


def test_an_unknown_environment_has_suggestions(training: Training) -> None:
    """The close match is in the remedy."""
    run = training.run("ppo", "CartPol-v1", 100)

    assert run.state == "failed"
    assert "CartPol-v1" in run.reason
    assert "CartPole-v1" in run.remedy


@pytest.mark.parametrize(
    ("algo", "env_id", "fitting"),
    [
        ("ppo", "Pendulum-v1", "ppo_continuous_action"),
        ("sac_continuous_action", "CartPole-v1", "dqn"),
    ],
)
def test_an_unsupported_action_space_is_an_error(
    training: Training, algo: str, env_id: str, fitting: str
) -> None:
    """Names the space, and algorithms that fit."""
    run = training.run(algo, env_id, 100)

    assert run.state == "failed"
    assert env_id in run.reason
    assert fitting in run.remedy


def test_a_loss_of_nan_fails_the_run(training: Training) -> None:
    """With the step and the last good checkpoint."""
    run = training.run(
        "ppo",
        "treacherous:WithoutNumbers-v0",
        4000,
        params={"num_envs": 1, "num_steps": 64},
        artifacts={"checkpoints": {"every_steps": 256}},
    )

    assert run.state == "failed"
    assert "step" in run.reason
    assert "nan" in run.reason.lower()
    name = run.remedy.rpartition("checkpoint is ")[2].rstrip(".")
    assert (training.folder(run.run_id) / name).is_file(), run.remedy


def test_a_missing_gpu_is_an_error(training: Training) -> None:
    """The run fails with a remedy instead of using the CPU."""
    with pytest.raises(TrainerError) as caught:
        training.submit("ppo", "CartPole-v1", 100, resources={"gpus": 64})

    assert "GPU" in caught.value.message
    assert caught.value.remedy


def test_a_checkpoint_of_another_environment_is_rejected(training: Training) -> None:
    """Both spaces are named."""
    made = training.run("ppo", "CartPole-v1", 512, params={"num_envs": 1, "num_steps": 64})
    checkpoint = training.checkpoint_id(made.run_id, "last.pt")
    run = training.run(
        "ppo", "Acrobot-v1", 100, mode="evaluate", actor=checkpoint, warm_start=checkpoint
    )

    assert run.state == "failed"
    assert "CartPole-v1" in run.reason + run.remedy


def test_a_warm_start_with_a_network_of_another_size(training: Training) -> None:
    """The error names the difference."""
    made = training.run("ppo", "CartPole-v1", 512, params={"num_envs": 1, "num_steps": 64})
    checkpoint = training.checkpoint_id(made.run_id, "last.pt")
    run = training.run("ppo", "Acrobot-v1", 512, warm_start=checkpoint)

    assert run.state == "failed"
    assert "network does not match" in run.reason
    assert "size mismatch" in run.reason
