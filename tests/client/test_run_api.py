"""Starting, controlling, finding, archiving and exporting runs from Python."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import (
    ArchiveFileError,
    RunReferenceError,
    TrainerError,
    WaitTimeoutError,
)
from mosaic.contract.ids import new_ulid
from mosaic.contract.run_config import RunConfigError, load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery
from tests.client.conftest import echo
from tests.client.cutting_proxy import CuttingProxy
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_LONG = echo(steps=1_000_000, rate=200)


@pytest.fixture
def proxy(daemon: DaemonUnderTest) -> Iterator[CuttingProxy]:
    cutting_proxy = CuttingProxy(daemon.address)
    yield cutting_proxy
    cutting_proxy.close()


def test_run_from_submission_to_end(shared_client: TrainerClient) -> None:
    """Both a mapping and a TrainRunConfig can be submitted, and `wait` returns the final record."""
    for config in (echo(steps=300), load_run_config(echo(steps=300))):
        run = shared_client.wait(shared_client.submit(config).run_id, timeout_s=60)
        assert (run.state, run.exit_code, run.digest.steps) == (RunState.SUCCEEDED, 0, 300)
    details = shared_client.run(run.run_id)
    assert details.command[-2] == "--config"
    assert [change.state for change in details.history][-1] is RunState.SUCCEEDED


def test_invalid_configuration_is_rejected_by_client(shared_client: TrainerClient) -> None:
    """The error names all problems."""
    with pytest.raises(RunConfigError) as raised:
        shared_client.submit({"worker": "echo_worker", "stps": 1})
    assert {"stps", "env_id"} <= {str(problem.path[-1]) for problem in raised.value.problems}


def test_lost_answer_does_not_start_run_twice(
    daemon: DaemonUnderTest, client: TrainerClient, proxy: CuttingProxy
) -> None:
    """The daemon has accepted the run, but the connection breaks before the answer."""
    with TrainerClient(proxy.address, daemon.token) as behind_proxy:
        behind_proxy.health()
        proxy.cut_answers(lambda: bool(client.runs_page().runs))
        run = behind_proxy.submit(echo(steps=10))
    assert proxy.cuts == 1
    assert [record.run_id for record in client.runs()] == [run.run_id]


def test_pause_resume_and_cancel(shared_client: TrainerClient) -> None:
    """Each returns the run in its new state, and cancel leads to the end."""
    run_id = shared_client.submit(_LONG).run_id
    next(iter(shared_client.steps(run_id, follow=True)))
    assert shared_client.pause(run_id).state is RunState.PAUSED
    assert shared_client.resume(run_id).state is RunState.RUNNING
    assert shared_client.control(run_id, {"cmd": "checkpoint"}) > 0
    shared_client.cancel(run_id, reason="enough")
    run = shared_client.wait(run_id, timeout_s=60)
    assert (run.state, run.reason) == (RunState.CANCELLED, "enough")


def test_wait_times_out(shared_client: TrainerClient) -> None:
    """The error has the run and its state; the run itself is not changed."""
    run_id = shared_client.submit(_LONG).run_id
    with pytest.raises(WaitTimeoutError, match=run_id):
        shared_client.wait(run_id, timeout_s=0.2)
    assert not shared_client.run(run_id).run.state.is_final
    shared_client.cancel(run_id, grace_s=0)
    assert shared_client.wait(run_id, timeout_s=60).state is RunState.CANCELLED


def test_run_annotations(shared_client: TrainerClient) -> None:
    """Tags, notes, names and the archive, each found again in lists."""
    run_id = shared_client.wait(shared_client.submit(echo(steps=10)).run_id).run_id
    shared_client.tag(run_id, "red", "blue")
    shared_client.untag(run_id, "red")
    shared_client.note(run_id, "look at this")
    run = shared_client.rename(run_id, "mine")
    assert (run.tags, run.note, run.name) == (("blue",), "look at this", "mine")
    assert [record.run_id for record in shared_client.runs(tag="blue")] == [run_id]
    shared_client.archive(run_id)
    assert not list(shared_client.runs(tag="blue"))
    assert list(shared_client.runs(tag="blue", include_archived=True))
    shared_client.archive(run_id, archived=False)
    assert list(shared_client.runs(tag="blue"))


def test_runs_come_page_by_page(shared_client: TrainerClient) -> None:
    """Newest first, without duplicates; `runs_page` returns one page."""
    for _ in range(3):
        shared_client.wait(shared_client.submit(echo(steps=1)).run_id)
    all_ids = [run.run_id for run in shared_client.runs(include_archived=True)]
    assert all_ids == sorted(set(all_ids), reverse=True)
    first = shared_client.runs_page(RunQuery(page_size=2))
    assert len(first.runs) == 2
    assert first.next_page_token


def test_runs_are_resolved_by_end_of_id(shared_client: TrainerClient) -> None:
    """By the end or start of an id, a name, or `last`; ambiguous references are rejected."""
    older = shared_client.wait(shared_client.submit(echo(steps=1)).run_id).run_id
    newest = shared_client.wait(shared_client.submit(echo(steps=1)).run_id).run_id
    shared_client.rename(older, "the old one")
    assert shared_client.resolve("last") == newest
    assert shared_client.resolve(newest[-8:].lower()) == newest
    assert shared_client.resolve(older[:-1]) == older
    assert shared_client.resolve("the old one") == older
    with pytest.raises(RunReferenceError, match="could be"):
        shared_client.resolve(newest[:2])
    with pytest.raises(RunReferenceError, match="nothing"):
        shared_client.resolve("nothing")


def test_readiness_before_a_run(shared_client: TrainerClient) -> None:
    """Preflight, dry run, workers and bundles are typed."""
    report = shared_client.preflight(echo(steps=10))
    assert not report.is_blocked
    assert "worker" in {item.check for item in report.items}
    dry = shared_client.dry_run(echo(steps=10))
    assert dry.ok
    assert "echo_worker" in dry.run_command
    assert "echo_worker" in {worker.worker_id for worker in shared_client.workers()}
    assert shared_client.describe("echo_worker").algorithm("echo") is not None
    progress = list(shared_client.install_bundle("echo_worker"))
    assert progress[-1].phase == "done"
    assert "echo_worker" in {bundle.name for bundle in shared_client.bundles()}
    with pytest.raises(TrainerError, match="eco_worker"):
        shared_client.describe("eco_worker")


def test_run_is_exported_and_imported(shared_client: TrainerClient, tmp_path: Path) -> None:
    """Exported, deleted and imported again, it has all of its telemetry."""
    run_id = shared_client.wait(shared_client.submit(echo(steps=500)).run_id).run_id
    rewards = [step.reward for _, step in shared_client.steps(run_id)]
    archive = tmp_path / "run.tar.gz"
    assert shared_client.export_run(run_id, archive) == archive.stat().st_size
    assert shared_client.delete(run_id) > 0
    with pytest.raises(TrainerError, match=run_id):
        shared_client.run(run_id)
    imported = shared_client.import_run(archive)
    assert (imported.run_id, imported.state) == (run_id, RunState.SUCCEEDED)
    assert [step.reward for _, step in shared_client.steps(run_id)] == rewards


def test_archives_that_cannot_be_read_or_written(
    shared_client: TrainerClient, tmp_path: Path
) -> None:
    """The error names the file, and no incomplete file is left."""
    run_id = shared_client.wait(shared_client.submit(echo(steps=1)).run_id).run_id
    with pytest.raises(ArchiveFileError, match="absent"):
        shared_client.import_run(tmp_path / "absent.tar.gz")
    with pytest.raises(ArchiveFileError, match="no such folder"):
        shared_client.export_run(run_id, tmp_path / "no such folder" / "run.tar.gz")
    with pytest.raises(TrainerError):
        shared_client.export_run(new_ulid(), tmp_path / "run.tar.gz")
    assert not list(tmp_path.iterdir())
