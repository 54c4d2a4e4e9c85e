"""A script of CleanRL's own package, unmodified, through a real daemon in its own bundle."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.contract.manifest import decode_manifest
from mosaic.replay.verification import verify
from tests.support.daemon import DaemonUnderTest
from tests.workers.cleanrl.conftest import Training

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of `pip install cleanrl`, whose metadata require an older Python than needed."""
    folder = tmp_path_factory.mktemp("checkout")
    options = ["--quiet", "--no-deps", "--ignore-requires-python", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", folder, "cleanrl==1.2.0"],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def upstream(
    tmp_path_factory: pytest.TempPathFactory, give_bundles: Callable[..., None]
) -> Iterator[Training]:
    daemon = DaemonUnderTest(tmp_path_factory.mktemp("upstream"))
    give_bundles(daemon.home, "cleanrl_upstream")
    try:
        line = daemon.start()
        assert line.startswith("ready "), line
        with TrainerClient.connect(daemon.home) as client:
            yield Training(daemon, client)
    finally:
        daemon.clean_up()


def test_cleanrls_dqn_runs_unmodified_and_replays(checkout: Path, upstream: Training) -> None:
    """Flags become parameters, event files curves; episodes replay exactly; files are listed."""
    script = str(checkout / "cleanrl" / "dqn.py")
    (algorithm,) = upstream.client.describe("cleanrl_worker", script).algorithms
    assert {"buffer_size", "learning_starts", "train_frequency"} <= {
        parameter.name for parameter in algorithm.parameters
    }

    run = upstream.client.wait(
        upstream.client.submit(
            {
                "worker": "cleanrl_worker",
                "script": script,
                "env_id": "CartPole-v1",
                "total_timesteps": 1500,
                "params": {
                    "learning_starts": 500,
                    "buffer_size": 1000,
                    "cuda": False,
                    "save_model": True,
                },
                "bundle": {"extras": ["sb3"]},
                "telemetry": {"steps": "columns"},
            }
        ).run_id,
        timeout_s=150,
    )

    log = upstream.log(run.run_id)
    assert run.state == "succeeded", log
    assert "episodic_return=" in log
    assert "global_step=" in log
    series = {each.name: each for each in upstream.client.series(run.run_id)}
    assert {"charts/episodic_return", "losses/td_loss"} <= series.keys()
    steps = [step for step, _ in upstream.curve(run.run_id, "charts/episodic_return")]
    assert steps == sorted(set(steps)), "a point was reported twice"
    # The evaluation at the end is recorded as well.
    assert upstream.client.stats(run.run_id).episodes > len(steps) > 5
    assert list(upstream.client.checkpoints(run_id=run.run_id))
    manifest = decode_manifest(upstream.client.run(run.run_id).manifest_json)
    assert manifest.tensorboard_dir is not None
    (report,) = [file.path for file in manifest.reports if file.path.endswith("upstream.json")]
    assert json.loads((upstream.folder(run.run_id) / report).read_text())["sha256"]
    assert verify(upstream.client, run.run_id, 0).identical
