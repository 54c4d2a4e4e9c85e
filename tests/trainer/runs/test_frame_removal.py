"""Frames are for those who watch: nothing of them is left of a run that is over."""

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
    made = Home(tmp_path).run(RUN_ID)
    made.path.mkdir(parents=True)
    return made


def test_frames_and_what_was_to_become_some(run: RunDirectory) -> None:
    """Both go, and nothing else does."""
    for name in ("frames", ".frames-12.tmp", ".frames-9.tmp", "telemetry.jsonl", "frames.mp4"):
        (run.path / name).write_bytes(b"x")
    remove_frames(run)
    assert {path.name for path in run.path.iterdir()} == {"telemetry.jsonl", "frames.mp4"}


def test_other_files_in_their_place(run: RunDirectory, tmp_path: Path) -> None:
    """A link is removed and not followed, a folder is left alone, a missing run is ignored."""
    precious = tmp_path / "precious"
    precious.write_bytes(b"x")
    run.frames.symlink_to(precious)
    (run.path / ".frames-1.tmp").mkdir()
    remove_frames(run)
    assert precious.exists()
    assert [path.name for path in run.path.iterdir()] == [".frames-1.tmp"]
    remove_frames(RunDirectory(run.path.with_name("gone")))


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
def test_a_run_that_ends(daemon: DaemonUnderTest) -> None:
    """Its frames are gone when it is over, and who watched them sees the stream end."""
    run = _submit_with_frames(daemon)
    frames = daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run.run_id))
    assert next(frames).number > 0
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run.run_id))
    list(frames)
    daemon.until(run.run_id)
    assert not run.frames.exists()


@pytest.mark.process
def test_a_worker_and_a_daemon_that_were_killed(daemon: DaemonUnderTest) -> None:
    """A run that is found over after a crash leaves no frames either."""
    run = _submit_with_frames(daemon)
    daemon.until(run.run_id, RunState.RUNNING)
    half_made = run.path / ".frames-1.tmp"
    half_made.write_bytes(b"x")
    started = StartedRecord.read(run.started)
    assert started is not None
    daemon.kill()
    os.kill(started.pid, signal.SIGKILL)
    daemon.restart()
    assert daemon.until(run.run_id).state == "failed"
    assert not run.frames.exists()
    assert not half_made.exists()
