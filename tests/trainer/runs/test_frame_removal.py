"""The frames of a run are removed when it ends."""

import json
import os
import signal
from pathlib import Path

import pytest

from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.trainer.runs.run_files import remove_frames
from tests.support.daemon import DaemonUnderTest, eventually

RUN_ID = "01K4GQ3M0N2P5R7T9V1X3Z5B7D"


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    directory = Home(tmp_path).run(RUN_ID)
    directory.path.mkdir(parents=True)
    return directory


def test_frames_and_temporary_files_are_removed(run: RunDirectory) -> None:
    """Other files are not removed."""
    for name in ("frames", ".frames-12.tmp", ".frames-9.tmp", "telemetry.jsonl", "frames.mp4"):
        (run.path / name).write_bytes(b"x")
    remove_frames(run)
    assert {path.name for path in run.path.iterdir()} == {"telemetry.jsonl", "frames.mp4"}


def test_unexpected_file_types(run: RunDirectory, tmp_path: Path) -> None:
    """A link is removed and not followed, a folder is kept, a missing run is ignored."""
    target = tmp_path / "target"
    target.write_bytes(b"x")
    run.frames.symlink_to(target)
    (run.path / ".frames-1.tmp").mkdir()
    remove_frames(run)
    assert target.exists()
    assert [path.name for path in run.path.iterdir()] == [".frames-1.tmp"]
    remove_frames(RunDirectory(run.path.with_name("missing")))


def _submit_with_frames(daemon: DaemonUnderTest) -> RunDirectory:
    config = {
        "worker": "echo_worker",
        "algo": "echo",
        "env_id": "Echo-v0",
        "params": {"steps": 10_000_000, "rate": 50},
        "telemetry": {"frames": True},
    }
    request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
    run = daemon.run(daemon.stub.SubmitRun(request).run_id)
    eventually(run.frames.exists)
    return run


@pytest.mark.process
def test_frames_are_removed_when_a_run_ends(daemon: DaemonUnderTest) -> None:
    """The frame stream of a client ends, too."""
    run = _submit_with_frames(daemon)
    frames = daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run.run_id))
    assert next(frames).number > 0
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run.run_id))
    list(frames)
    daemon.until(run.run_id)
    assert not run.frames.exists()


@pytest.mark.process
def test_frames_are_removed_after_a_crash(daemon: DaemonUnderTest) -> None:
    """The next daemon removes the frames of a run whose worker was killed."""
    run = _submit_with_frames(daemon)
    daemon.until(run.run_id, RunState.RUNNING)
    temporary = run.path / ".frames-1.tmp"
    temporary.write_bytes(b"x")
    started = StartedRecord.read(run.started)
    assert started is not None
    daemon.kill()
    os.kill(started.pid, signal.SIGKILL)
    daemon.restart()
    assert daemon.until(run.run_id).state == "failed"
    assert not run.frames.exists()
    assert not temporary.exists()
