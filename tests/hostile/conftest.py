"""A real daemon that has the hostile worker."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mosaic.contract.layout import Home
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool

WORKERS = Path(__file__).with_name("workers")

SubmitAttack = Callable[[str], str]


def add_hostile_worker(home: Home) -> None:
    """Let the daemon of this home find the hostile worker."""
    home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.settings.write_text(f"worker_folders = [{json.dumps(str(WORKERS))}]\n")


@pytest.fixture
def daemon(daemon_pool: DaemonPool) -> Iterator[DaemonUnderTest]:
    with daemon_pool.daemon("hostile", add_hostile_worker) as under_test:
        yield under_test


@pytest.fixture
def submit_attack(daemon: DaemonUnderTest) -> SubmitAttack:
    """A function that submits a run of the hostile worker with this attack; returns its id."""

    def submit(attack: str) -> str:
        config = {"worker": "hostile", "algo": attack, "env_id": "None-v0"}
        request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
        return daemon.stub.SubmitRun(request).run_id

    return submit
