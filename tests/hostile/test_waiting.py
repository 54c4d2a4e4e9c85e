"""Programs that do not answer block nothing, and the cost of waiting runs is small."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.ids import new_ulid
from mosaic.contract.process_identity import live_processes
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.run_states import RunState
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.dispatcher import Dispatcher
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_infos import worker_infos
from tests.support.daemon import DaemonUnderTest, eventually
from tests.support.daemon_pool import DaemonPool
from tests.trainer.workers.worker_files import write_worker

_CONFIG = load_run_config(b'{"worker": "w", "algo": "none", "env_id": "None-v0"}')
_LEAVES_A_CHILD = """
import json, os, sys
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 64)
    os.execve("/bin/sleep", ["sleep", "2.71828e3"], {})
print(json.dumps({"worker": "leaver", "version": "1", "modes": ["train"]}))
"""


@pytest.mark.process
def test_a_run_with_a_suspended_supervisor_can_be_cancelled(
    daemon: DaemonUnderTest, submit_attack: Callable[[str], str]
) -> None:
    """It is resumed, so that it can record the exit."""
    run_id = submit_attack("suspended_supervisor")
    daemon.until(run_id, RunState.RUNNING)
    eventually(lambda: b"ready" in daemon.run(run_id).spool.read_bytes())
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id, grace_s=0.5))
    assert daemon.until(run_id).state == "cancelled"


class _Bundles:
    def is_ready(self, worker_id: str, script: str | None = None) -> bool:  # noqa: ARG002 - a protocol
        return True


class _HangingCatalog(WorkerCatalog):
    """`--describe` of every worker but one hangs."""

    def __init__(self, folder: Path) -> None:
        super().__init__((folder,))
        self.may_answer = threading.Event()

    def describe(self, worker_id: str, script: str | None = None) -> WorkerDescriptor:
        if worker_id != "a_good_one":
            self.may_answer.wait()
        return super().describe(worker_id, script)


@pytest.mark.process
def test_workers_that_hang_do_not_make_the_list_fail(tmp_path: Path) -> None:
    """They are listed with the reason, together with those that answer."""
    names = ["a_good_one", *(f"hanging_{number}" for number in range(5))]
    for name in names:
        write_worker(tmp_path, name)
    catalog = _HangingCatalog(tmp_path)
    try:
        infos = {
            info.worker_id: info
            for info in worker_infos(catalog, _Bundles(), timeout_s=10.0)
            if info.worker_id in names
        }
    finally:
        catalog.may_answer.set()
    assert set(infos) == set(names)
    assert infos["a_good_one"].problem == ""
    assert all("described itself" in infos[name].problem for name in names[1:])


def _find_strays() -> set[int]:
    pids = set()
    for process in live_processes():
        try:
            if b"2.71828e3" in Path(f"/proc/{process.pid}/cmdline").read_bytes():
                pids.add(process.pid)
        except OSError:
            continue
    return pids


@pytest.mark.process
def test_a_child_of_describe_that_leaves_its_session_is_ended(
    daemon_pool: DaemonPool, tmp_path: Path
) -> None:
    """After the call has returned, no process of `--describe` is left."""
    # A new comment, so that no cached answer is used.
    write_worker(tmp_path, "leaver", main=f"# {new_ulid()}\n{_LEAVES_A_CHILD}")
    before = _find_strays()
    with daemon_pool.new_daemon() as daemon:
        daemon.stop()
        daemon.home.settings.write_text(f"worker_folders = [{json.dumps(str(tmp_path))}]\n")
        daemon.restart()
        info = daemon.stub.DescribeWorker(pb.WorkerRef(worker_id="leaver"), timeout=60)
        assert (info.problem, _find_strays()) == ("", before)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[RunRegistry]:
    registry = RunRegistry(tmp_path / "trainer.db")
    yield registry
    registry.close()


def test_a_queue_is_read_without_reading_each_configuration_again(
    registry: RunRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is read for each submission; reading 1,500 configurations would be slow."""
    run_ids = [new_ulid() for _ in range(50)]
    for run_id in run_ids:
        registry.add(run_id, _CONFIG)
    read: list[str] = []
    read_config = registry.config

    def count(run_id: str) -> TrainRunConfig:
        read.append(run_id)
        return read_config(run_id)

    monkeypatch.setattr(registry, "config", count)
    dispatcher: Any = SimpleNamespace(_services=SimpleNamespace(registry=registry), _queued={})
    for _ in range(3):
        assert [waiting.run_id for waiting in Dispatcher._read_queue(dispatcher)] == run_ids
    assert read == run_ids


def test_a_low_disk_is_one_event_per_waiting_run() -> None:
    """The reason has no free space in it, because each change is an event of each run."""
    free_bytes = iter((100 << 20, 99 << 20))
    services = SimpleNamespace(
        machine=SimpleNamespace(disk_free_bytes=lambda _: next(free_bytes)),
        home=SimpleNamespace(path=Path()),
        settings=SimpleNamespace(min_free_disk_mb=1_000),
    )
    dispatcher: Any = SimpleNamespace(_services=services)
    first = Dispatcher._disk_shortage(dispatcher)
    assert first
    assert Dispatcher._disk_shortage(dispatcher) == first
