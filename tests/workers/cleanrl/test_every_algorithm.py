"""Every algorithm through a real daemon: it trains a little, and its checkpoint plays."""

import ast
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.manifest import decode_manifest
from tests.workers.cleanrl.conftest import Training

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
LEARNERS = ROOT / "workers" / "cleanrl_worker" / "src" / "cleanrl_worker" / "learners"
ALGORITHMS = sorted(path.stem for path in LEARNERS.glob("*.py") if path.stem != "__init__")

TINY: dict[str, dict[str, Any]] = {
    "num_envs": {"atari": 2},
    "num_steps": {"": 32, "atari": 8},
    "num_minibatches": {"": 2},
    "update_epochs": {"": 1},
    "learning_starts": {"": 64, "atari": 40},
    "buffer_size": {"": 1000, "atari": 200},
    "batch_size": {"": 16},
    "train_frequency": {"": 4},
    "target_network_frequency": {"": 32},
}


def kind_of(algo: str) -> str:
    return "atari" if "atari" in algo else ""


def environment_for(algo: str) -> str:
    if kind_of(algo):
        return "PongNoFrameskip-v4"
    return "Pendulum-v1" if "continuous" in algo else "CartPole-v1"


def tiny_params(algo: str) -> dict[str, Any]:
    """The smallest sizes for this learner."""
    tree = ast.parse((LEARNERS / f"{algo}.py").read_text("utf-8"))
    (args,) = [node for node in tree.body if getattr(node, "name", "") == "Args"]
    assert isinstance(args, ast.ClassDef)
    has = {
        node.target.id
        for node in args.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    } | {"num_envs"}
    chosen = {}
    for name, values in TINY.items():
        value = values.get(kind_of(algo), values.get(""))
        if name in has and value is not None:
            chosen[name] = value
    return chosen


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_it_trains_and_its_checkpoint_plays(training: Training, algo: str) -> None:
    """Metrics, files and a manifest; then an evaluation from the checkpoint."""
    env_id = environment_for(algo)
    bundle = {"name": "cleanrl_worker", "extras": ["atari"] if kind_of(algo) else []}
    steps = 320 if kind_of(algo) else 512
    run = training.run(algo, env_id, steps, params=tiny_params(algo), bundle=bundle)

    assert run.state == "succeeded", training.log(run.run_id)
    series = {each.name for each in training.client.series(run.run_id)}
    assert "charts/SPS" in series
    assert any(name.startswith("losses/") for name in series)
    manifest = decode_manifest(training.client.run(run.run_id).manifest_json)
    assert manifest.tensorboard_dir is not None
    assert manifest.tensorboard_dir.startswith("runs/")
    assert {file.path for file in manifest.checkpoints} >= {"checkpoints/last.pt"}

    checkpoint = training.checkpoint_id(run.run_id, "last.pt")
    played = training.run(
        algo,
        env_id,
        60,
        mode="evaluate",
        actor=checkpoint,
        warm_start=checkpoint,
        episodes=1,
        bundle=bundle,
    )

    assert played.state == "succeeded", training.log(played.run_id)
    assert training.client.stats(played.run_id).steps > 0
