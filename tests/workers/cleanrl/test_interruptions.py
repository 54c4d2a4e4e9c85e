"""Training runs that are stopped, paused, killed and resumed."""

import os
import signal

import pytest

from tests.support.daemon import eventually
from tests.workers.cleanrl.conftest import Training

pytestmark = pytest.mark.process

PARAMS = {"num_envs": 2, "num_steps": 64}
EVERY = {"checkpoints": {"every_steps": 1280, "keep": 100}}
LONG = 100_000_000
LOSS = "losses/value_loss"


def test_a_killed_run_is_resumed_exactly(training: Training) -> None:
    """After SIGKILL, resuming gives the same curve as an uninterrupted run."""
    total = 12_800
    whole = training.run("ppo", "CartPole-v1", total, params=PARAMS, artifacts=EVERY)
    cut = training.submit("ppo", "CartPole-v1", total, params=PARAMS, artifacts=EVERY)
    checkpoints = training.folder(cut) / "checkpoints"
    eventually((checkpoints / "step-2560.pt").exists)
    os.killpg(training.worker_pid(cut), signal.SIGKILL)
    assert training.finished(cut).state in ("failed", "succeeded")

    resumed = training.run(
        "ppo",
        "CartPole-v1",
        total,
        params=PARAMS,
        artifacts=EVERY,
        warm_start=training.checkpoint_id(cut, "step-2560.pt"),
        metadata={"resume": True},
    )

    assert resumed.state == "succeeded", training.log(resumed.run_id)
    for name in (LOSS, "charts/episodic_return"):
        curve = training.curve(resumed.run_id, name)
        uninterrupted = training.curve(whole.run_id, name)
        assert len(curve) > 10
        assert curve == uninterrupted[-len(curve) :]


def test_a_stopped_run_leaves_a_checkpoint(training: Training) -> None:
    """SIGTERM ends the worker between two updates, after saving."""
    run = training.submit("ppo", "CartPole-v1", LONG, params=PARAMS)
    eventually(lambda: training.client.stats(run).episodes > 3)
    os.kill(training.worker_pid(run), signal.SIGTERM)

    assert training.finished(run).state == "cancelled"
    assert (training.folder(run) / "checkpoints" / "last.pt").is_file()


def test_a_run_pauses_between_updates(training: Training) -> None:
    """Nothing is reported while it is paused, and it continues afterwards."""
    run = training.submit("ppo", "CartPole-v1", LONG, params=PARAMS)
    eventually(lambda: training.client.stats(run).episodes > 3)
    training.client.pause(run)
    eventually(lambda: training.client.run(run).run.state == "paused")
    before = training.client.stats(run).episodes
    training.client.resume(run)
    eventually(lambda: training.client.stats(run).episodes > before)
    training.client.cancel(run)

    assert training.finished(run).state == "cancelled"


def test_a_checkpoint_on_request(training: Training) -> None:
    """While the training continues."""
    run = training.submit("ppo", "CartPole-v1", LONG, params=PARAMS)
    eventually(lambda: training.client.stats(run).episodes > 3)
    training.client.control(run, {"cmd": "checkpoint"})
    eventually((training.folder(run) / "checkpoints" / "last.pt").exists)
    training.client.cancel(run)

    assert training.finished(run).state == "cancelled"


def test_a_warm_start_keeps_the_trained_network(training: Training) -> None:
    """From step 0, with the network of the checkpoint."""
    first = training.run("ppo", "CartPole-v1", 1280, params=PARAMS)
    second = training.run(
        "ppo",
        "CartPole-v1",
        1280,
        params=PARAMS,
        warm_start=training.checkpoint_id(first.run_id, "last.pt"),
    )

    assert second.state == "succeeded"
    assert training.curve(second.run_id, LOSS)[0][0] == 128
    assert training.curve(second.run_id, LOSS)[0] != training.curve(first.run_id, LOSS)[0]
