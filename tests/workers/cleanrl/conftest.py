"""A real daemon with the bundle of the CleanRL worker, and its Python for tests inside it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.client import TrainerClient
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.runs import RunRecord
from tests.support.daemon import DaemonUnderTest

OWN_ENVIRONMENTS = Path(__file__).parent / "own_environments"
TIMEOUT_S = 150


class Training:
    """Starts runs of the worker on one daemon."""

    def __init__(self, daemon: DaemonUnderTest, client: TrainerClient) -> None:
        self.daemon = daemon
        self.client = client

    def submit(self, algo: str, env_id: str, total_timesteps: int, **fields: Any) -> str:
        config = {
            "worker": "cleanrl_worker",
            "algo": algo,
            "env_id": env_id,
            "total_timesteps": total_timesteps,
            "python_path": [str(OWN_ENVIRONMENTS)],
            **fields,
        }
        return self.client.submit(config).run_id

    def run(self, algo: str, env_id: str, total_timesteps: int, **fields: Any) -> RunRecord:
        """Run it to its end, in any state."""
        return self.finished(self.submit(algo, env_id, total_timesteps, **fields))

    def finished(self, run_id: str) -> RunRecord:
        return self.client.wait(run_id, timeout_s=TIMEOUT_S)

    def worker_pid(self, run_id: str) -> int:
        started = StartedRecord.read(self.daemon.home.run(run_id).started)
        assert started is not None
        return started.pid

    def folder(self, run_id: str) -> Path:
        return self.daemon.home.run(run_id).path

    def log(self, run_id: str) -> str:
        return "\n".join(self.client.logs(run_id))

    def curve(self, run_id: str, name: str) -> list[tuple[Any, Any]]:
        """Every point of a curve, in order."""
        points: list[tuple[Any, Any]] = []
        with self.client.metrics(run_id) as stream:
            for _, metric in stream:
                values: dict[Any, Any] = metric.values or {metric.name: metric.value}
                if name in values:
                    points.append((metric.step, values[name]))
        return points

    def checkpoint_id(self, run_id: str, name: str) -> str:
        for checkpoint in self.client.checkpoints(run_id=run_id):
            if checkpoint.path.endswith(name):
                return checkpoint.checkpoint_id
        raise AssertionError(f"{name} is not among the checkpoints of {run_id}")


@pytest.fixture(scope="module")
def training(
    tmp_path_factory: pytest.TempPathFactory, give_bundles: Callable[..., None]
) -> Iterator[Training]:
    """One daemon for the tests of a module."""
    daemon = DaemonUnderTest(tmp_path_factory.mktemp("cleanrl"))
    give_bundles(daemon.home, "cleanrl_worker")
    try:
        line = daemon.start()
        assert line.startswith("ready "), line
        with TrainerClient.connect(daemon.home) as client:
            yield Training(daemon, client)
    finally:
        daemon.clean_up()


@pytest.fixture(scope="session")
def cleanrl_python(installed_bundle: Callable[[str], Path]) -> Path:
    """The Python of the worker's bundle, with every extra."""
    venvs = installed_bundle("cleanrl_worker")
    (python,) = [
        folder / "bin" / "python"
        for folder in venvs.iterdir()
        if folder.name.startswith("cleanrl_worker-") and (folder / "bin" / "python").exists()
    ]
    return python


@pytest.fixture(scope="session")
def inside_environment() -> dict[str, str]:
    """For processes of that Python: the worker and the SDK on their path, one thread."""
    root = Path(__file__).parents[3]
    folders = [root / "worker_sdk" / "src", root / "workers" / "cleanrl_worker" / "src"]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "OMP_NUM_THREADS": "1",
        "SDL_VIDEODRIVER": "dummy",
    }
