"""A daemon with runs that have recorded episodes, and a client that replays them.

The runs are real: a test worker records random play with the SDK's recorder. It needs no bundle,
because the interpreter of the tests has gymnasium.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mosaic.client import TrainerClient
from tests.support.daemon import DaemonUnderTest
from tests.trainer.workers.worker_files import write_worker
from tests.worker_sdk.helper_process import FOLDER

RECORDING_WORKER = """
import sys
from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, main
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.recording.recorder import EpisodeRecorder

def train(run):
    config = run.config
    recorder = EpisodeRecorder(run.emitter, detail="columns")
    env = recorder.attach(make_environment(config.env_id, config.env_kwargs))
    env.action_space.seed(config.seed)
    for episode in range(config.max_episodes or 1):
        env.reset(seed=None if episode else config.seed)
        for _ in range(config.params["steps"]):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                break
    recorder.close()

steps = Parameter("steps", "int", 40, min=1, help="Maximum steps per episode.")
DESCRIPTOR = Descriptor(
    worker="{worker_id}", label="Recorder", version="1", summary="Records random play.",
    algorithms=(Algorithm(id="random", label="Random", doc="No learning.", parameters=(steps,)),),
    environments=Environments(any=True), needs=Needs(bundle={bundle!r}),
)
sys.exit(main(DESCRIPTOR, train))
"""
Record = Callable[..., str]


def write_recording_worker(
    folder: Path, worker_id: str = "recording_worker", bundle: str | None = None
) -> None:
    """Write the worker, including the odd environments."""
    main = RECORDING_WORKER.format(worker_id=worker_id, bundle=bundle)
    package = write_worker(folder, worker_id, main=main, bundle=bundle)
    shutil.copy(FOLDER / "odd_environments.py", package.parent)


def start_daemon(folder: Path) -> DaemonUnderTest:
    """Start a daemon that has the recording worker."""
    workers = folder / "workers"
    write_recording_worker(workers)
    under_test = DaemonUnderTest(folder)
    under_test.home.trainer.mkdir(parents=True, mode=0o700)
    under_test.home.settings.write_text(f"worker_folders = [{json.dumps(str(workers))}]\n")
    temporary = folder / "temporary"
    temporary.mkdir()
    under_test.environment = {
        "MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl"),
        "TMPDIR": str(temporary),
    }
    assert under_test.start().startswith("ready ")
    return under_test


def record_run(
    client: TrainerClient,
    env_id: str,
    *,
    worker: str = "recording_worker",
    steps: int = 40,
    episodes: int = 1,
    python_path: Sequence[str] = (),
    **env_kwargs: Any,
) -> str:
    """Record episodes with a new run and return its id."""
    run = client.submit(
        {
            "worker": worker,
            "algo": "random",
            "env_id": env_id,
            "env_kwargs": env_kwargs,
            "python_path": python_path,
            "seed": 3,
            "max_episodes": episodes,
            "params": {"steps": steps},
        }
    )
    record = client.wait(run.run_id)
    assert record.state == "succeeded", f"{record.reason} {record.remedy}"
    return run.run_id


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonUnderTest]:
    """One daemon for all tests of a module."""
    folder = tmp_path_factory.mktemp("replays")
    under_test = start_daemon(folder)
    try:
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture(scope="module")
def client(daemon: DaemonUnderTest) -> Iterator[TrainerClient]:
    with TrainerClient.connect(daemon.home) as connected:
        yield connected


@pytest.fixture(scope="module")
def record(client: TrainerClient) -> Record:
    """Record a run with one episode, cached by its arguments."""
    run_ids: dict[str, str] = {}

    def get_run(env_id: str, **request: Any) -> str:
        key = json.dumps([env_id, request], sort_keys=True)
        if key not in run_ids:
            run_ids[key] = record_run(client, env_id, **request)
        return run_ids[key]

    return get_run


def helpers_of(daemon: DaemonUnderTest) -> list[int]:
    """Return the live helper processes of the daemon."""
    pids = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            environment = (entry / "environ").read_bytes()
            state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        is_helper = b"mosaic_worker.resimulation" in command
        if is_helper and os.fsencode(daemon.folder) in environment and state not in b"ZX":
            pids.append(int(entry.name))
    return pids
