"""Checkpoints, data sets and retention from Python, against a real daemon."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import TrainerError
from mosaic.contract.layout import Home
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_events import ArtifactPruned, RetentionChanged
from tests.client.conftest import echo
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

POLICY = bytes(range(256)) * 4096 * 3


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "my policy.pt"
    file.write_bytes(POLICY)
    return file


def test_checkpoint_of_a_run(client: TrainerClient, daemon: DaemonUnderTest) -> None:
    """It is listed with its run's worker, and verified by its announced hash."""
    run = client.submit(echo(steps=1_000_000, rate=100))
    eventually(lambda: client.run(run.run_id).run.digest.steps)
    client.control(run.run_id, {"cmd": "checkpoint"})
    (checkpoint,) = eventually(lambda: list(client.checkpoints(run_id=run.run_id)))
    assert (checkpoint.source, checkpoint.worker) == ("run", "echo_worker")
    assert (daemon.home.path / checkpoint.path).is_file()
    assert len(json.loads(checkpoint.meta_json)["sha256"]) == 64
    assert client.verify_checkpoint(checkpoint.checkpoint_id).ok
    (daemon.home.path / checkpoint.path).write_bytes(b"something else")
    assert not client.verify_checkpoint(checkpoint.checkpoint_id).ok
    client.cancel(run.run_id)


def test_imported_checkpoint(client: TrainerClient, daemon: DaemonUnderTest, policy: Path) -> None:
    """It is stored unchanged, listed after a restart, and verified."""
    imported = client.import_checkpoint(
        policy, worker="echo_worker", env_id="Echo-v0", algo="echo", meta={"step": 3}
    )
    digest = hashlib.sha256(POLICY).hexdigest()
    assert (imported.source, imported.run_id, imported.size_bytes) == ("imported", "", len(POLICY))
    assert json.loads(imported.meta_json) == {"step": 3, "sha256": digest}
    assert (daemon.home.path / imported.path).read_bytes() == POLICY
    assert Path(imported.path).name == policy.name
    daemon.restart()
    assert list(client.checkpoints(worker="echo_worker")) == [imported]
    assert not list(client.checkpoints(worker="other_worker"))
    report = client.verify_checkpoint(imported.checkpoint_id)
    assert (report.ok, report.sha256) == (True, digest)


@pytest.mark.parametrize(
    "fields",
    [
        {"worker": "../x"},
        {"env_id": ""},
        {"algo": "a b"},
        {"name": "../policy.pt"},
        {"name": "checkpoint.json"},
        {"name": ".hidden"},
        {"meta": {"api_key": "sk-1234567890abcdefghijkl"}},
        {"meta": {"x": "y" * 20_000}},
    ],
    ids=str,
)
def test_rejected_imports(
    shared_client: TrainerClient, policy: Path, fields: dict[str, object]
) -> None:
    """The error names the field that cannot be stored."""
    arguments = {"worker": "echo_worker", "env_id": "Echo-v0", **fields}
    with pytest.raises(TrainerError) as raised:
        shared_client.import_checkpoint(policy, **arguments)  # type: ignore[arg-type]
    assert raised.value.status == "INVALID_ARGUMENT"
    assert next(iter(fields)) in raised.value.message
    assert not list(shared_client.checkpoints())


def test_invalid_files_are_rejected(shared_client: TrainerClient, tmp_path: Path) -> None:
    """A missing file, a folder and an empty file are rejected with a message."""
    (tmp_path / "empty").touch()
    for path in (tmp_path / "missing", tmp_path, tmp_path / "empty"):
        with pytest.raises(TrainerError):
            shared_client.import_checkpoint(path, worker="echo_worker", env_id="Echo-v0")


def test_interrupted_import(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """No file is left after the sender cancels, or after the daemon is killed and restarted."""

    def endless() -> Iterator[pb.CheckpointPart]:
        header = pb.CheckpointHeader(worker="echo_worker", env_id="Echo-v0")
        yield pb.CheckpointPart(header=header, data=b"x")
        while not is_cancelled:
            yield pb.CheckpointPart(data=b"x" * 100_000)

    def list_files() -> list[Path]:
        folder = daemon.home.checkpoints
        return list(folder.iterdir()) if folder.is_dir() else []

    is_cancelled: list[bool] = []
    call = daemon.stub.ImportCheckpoint.future(endless())
    eventually(list_files)
    call.cancel()
    is_cancelled.append(True)
    eventually(lambda: not list_files())
    is_cancelled.clear()
    call = daemon.stub.ImportCheckpoint.future(endless())
    eventually(list_files)
    daemon.kill()
    is_cancelled.append(True)
    assert call.exception() is not None or call.cancelled()
    assert daemon.start().startswith("ready ")
    assert not list_files()
    assert not list(client.checkpoints())


def test_chunks_out_of_order(daemon: DaemonUnderTest) -> None:
    """Content without a header, two headers, and a chunk that is too large are rejected."""
    header = pb.CheckpointHeader(worker="echo_worker", env_id="Echo-v0")
    for parts in (
        [],
        [pb.CheckpointPart(data=b"x")],
        [pb.CheckpointPart(header=header, data=b"without an end")],
        [pb.CheckpointPart(header=header, data=b"x"), pb.CheckpointPart(header=header)],
        [pb.CheckpointPart(header=header), pb.CheckpointPart(data=b"x" * ((1 << 20) + 1))],
    ):
        with pytest.raises(grpc.RpcError) as raised:
            daemon.stub.ImportCheckpoint(iter(parts))
        assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert not list(daemon.home.checkpoints.glob("*"))
    complete = [
        pb.CheckpointPart(header=header, data=b"x"),
        pb.CheckpointPart(data=b"y", last=True),
    ]
    assert daemon.stub.ImportCheckpoint(iter(complete)).size_bytes == 2


def test_unknown_checkpoints(shared_client: TrainerClient) -> None:
    """NOT_FOUND for an unknown id, INVALID_ARGUMENT for an invalid one."""
    for name, status in (("01J0000000000000000000000Z", "NOT_FOUND"), ("a/b", "INVALID_ARGUMENT")):
        with pytest.raises(TrainerError) as raised:
            shared_client.verify_checkpoint(name)
        assert raised.value.status == status


def test_datasets(client: TrainerClient, daemon: DaemonUnderTest) -> None:
    """All data sets of the home are listed, a broken one with its problem."""
    for name, manifest in (("good", '{"name": "Good", "files": []}'), ("bad", "{")):
        (daemon.home.datasets / name).mkdir(parents=True)
        (daemon.home.datasets / name / "manifest.json").write_text(manifest)
    datasets = {dataset.dataset_id: dataset for dataset in client.datasets()}
    assert datasets["good"].name == "Good"
    assert not datasets["good"].problem
    assert datasets["bad"].problem


def test_retention(tmp_path: Path) -> None:
    """Limits are settings; pruning deletes the reported files and notifies watchers."""
    home = Home(tmp_path / "home")
    home.trainer.mkdir(parents=True)
    home.settings.write_text("retention_keep_days = 0\n")
    daemon = DaemonUnderTest(tmp_path)
    try:
        assert daemon.start().startswith("ready ")
        with TrainerClient.connect(home) as client:
            _prune_a_video(client, home)
    finally:
        daemon.clean_up()


def _prune_a_video(client: TrainerClient, home: Home) -> None:
    run = client.submit(echo(steps=1_000_000, rate=100))
    eventually(lambda: client.run(run.run_id).run.digest.steps)
    video = home.run(run.run_id).videos / "a.mp4"
    video.parent.mkdir()
    video.write_bytes(b"v" * 1000)
    client.cancel(run.run_id)
    client.wait(run.run_id, timeout_s=60)
    view = client.retention()
    assert (view.keep_days, view.max_gb, view.prunable_bytes) == (0, None, 1000)
    assert {use.kind: use.size_bytes for use in view.used}["videos"] == 1000
    seq = client.runs_page().last_event_seq
    planned = client.prune()
    assert [(item.run_id, item.path) for item in planned.items] == [(run.run_id, "videos/a.mp4")]
    assert video.exists()
    assert client.prune(dry_run=False) == planned
    assert not video.exists()
    assert client.retention().prunable_items == 0
    with client.watch(after_seq=seq, follow=False) as events:
        changes = [event.what for event in events]
    assert any(isinstance(change, ArtifactPruned) for change in changes)
    assert changes[-1] == RetentionChanged(freed_bytes=1000, removed=1)
    assert client.run(run.run_id).run.digest.steps > 0
