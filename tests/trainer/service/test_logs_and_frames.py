"""StreamLogs and StreamFrames: following the files of a worker until its run ends."""

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.trainer.service.logs import LogFollower
from mosaic_worker.frames import FrameMailbox
from tests.support.daemon import DaemonUnderTest, eventually

_UNSAFE = UserError("not a regular file", remedy="")


def _rest(follower: LogFollower) -> bytes:
    data = b""
    while (block := follower.read()) is not None:
        data += block.data
    return data


@pytest.mark.process
def test_the_complete_log_of_a_run(daemon: DaemonUnderTest) -> None:
    """The complete output of the worker from any offset; the stream ends with the run."""
    run_id = daemon.submit(steps=1000, rate=2000)
    parts = list(daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id, follow=True)))
    complete = daemon.run(run_id).worker_log.read_bytes()
    assert b"".join(part.data for part in parts) == complete
    assert not parts or parts[-1].end == len(complete)
    assert daemon.record(run_id).state == "succeeded"
    with daemon.run(run_id).worker_log.open("ab") as log:
        log.write(b"one\ntwo\nthree\n")
    after = daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id, after=len(complete) + 4))
    assert b"".join(part.data for part in after) == b"two\nthree\n"
    tail = daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id, tail_lines=1))
    assert b"".join(part.data for part in tail) == b"three\n"


@pytest.mark.process
def test_the_daemons_own_log(daemon: DaemonUnderTest) -> None:
    """It is streamed if no run id is given, and can be followed."""
    stream = daemon.stub.StreamLogs(pb.StreamLogsRequest(follow=True))
    assert b"T395" in next(stream).data
    run_id = daemon.submit(steps=10)
    while run_id.encode() not in next(stream).data:
        pass
    stream.cancel()


@pytest.mark.process
def test_a_symlinked_log_is_rejected(daemon: DaemonUnderTest) -> None:
    """A worker cannot expose the token by replacing its log with a link."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    log = daemon.run(run_id).worker_log
    log.unlink()
    log.symlink_to(daemon.home.token)
    with pytest.raises(grpc.RpcError) as caught:
        list(daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id)))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert daemon.token not in str(caught.value)


@pytest.mark.process
def test_the_newest_frame(daemon: DaemonUnderTest) -> None:
    """A client gets the newest frame with its step and its control sequence number."""
    run_id = daemon.submit(steps=1_000_000, rate=10)
    daemon.until(run_id, RunState.RUNNING)
    stream = daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run_id, max_fps=100))
    mailbox = FrameMailbox(daemon.run(run_id).frames)
    for number in range(1, 4):
        mailbox.write(bytes([number]) * 12, 2, 2, step=number, seq=number, step_json=b"{}")
    frame = next(frame for frame in stream if frame.step == 3)
    assert (frame.width, frame.height, frame.channels) == (2, 2, 3)
    assert frame.pixels == bytes([3]) * 12
    assert frame.control_seq == 3
    assert frame.step_json == b"{}"
    mailbox.write(bytes(4 * 3 * 3), 4, 3, step=4)
    assert next(stream).width == 4
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    assert list(stream) == []
    assert list(daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run_id))) == []
    mailbox.close()


@pytest.mark.process
def test_a_run_without_frames(daemon: DaemonUnderTest) -> None:
    """The stream is empty and ends with the run, also if the frame file is invalid."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    assert list(daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run_id))) == []
    daemon.run(run_id).frames.write_bytes(struct.pack("<8s6I", b"MOSAICFR", 1, *[2**31] * 5))
    assert list(daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run_id))) == []


def test_a_log_that_is_rotated(tmp_path: Path) -> None:
    """The rest of the old file is read first, then the new one from its start."""
    path = tmp_path / "daemon.log"
    path.write_bytes(b"old one\n")
    follower = LogFollower(path, _UNSAFE)
    assert _rest(follower) == b"old one\n"
    with path.open("ab") as old:
        path.rename(tmp_path / "daemon.log.1")
        assert _rest(follower) == b""
        path.write_bytes(b"a longer new one\n")
        old.write(b"old two\n")
    assert _rest(follower) == b"old two\na longer new one\n"
    follower.close()


def test_a_truncated_log(tmp_path: Path) -> None:
    """It is read again from its start."""
    path = tmp_path / "worker.log"
    path.write_bytes(b"a long line\n")
    follower = LogFollower(path, _UNSAFE)
    follower.seek(5)
    assert _rest(follower) == b"g line\n"
    os.truncate(path, 0)
    path.write_bytes(b"new\n")
    assert _rest(follower) == b"new\n"
    follower.close()


def test_a_log_that_is_created_later(tmp_path: Path) -> None:
    """A queued run has no log yet."""
    follower = LogFollower(tmp_path / "worker.log", _UNSAFE)
    follower.seek_to_last_lines(3)
    assert follower.read() is None
    (tmp_path / "worker.log").write_bytes(b"here\n")
    assert _rest(follower) == b"here\n"
    follower.close()


def test_a_fifo_instead_of_a_log(tmp_path: Path) -> None:
    """It is rejected without blocking."""
    os.mkfifo(tmp_path / "worker.log")
    with pytest.raises(UserError, match="regular"):
        LogFollower(tmp_path / "worker.log", _UNSAFE).read()


@pytest.mark.parametrize("ending", [b"", b"\n"])
@pytest.mark.parametrize("lines", [1, 2, 7, 5000, 20_000])
def test_the_last_lines(tmp_path: Path, lines: int, ending: bytes) -> None:
    """The requested number of lines, or all of them, with and without a final newline."""
    path = tmp_path / "worker.log"
    written = [b"line %d of a log" % number for number in range(10_000)]
    path.write_bytes(b"\n".join(written) + ending)
    follower = LogFollower(path, _UNSAFE)
    follower.seek_to_last_lines(lines)
    assert _rest(follower).splitlines() == written[-lines:]
    follower.close()


@pytest.mark.process
def test_cancelled_streams_close_their_files(daemon: DaemonUnderTest) -> None:
    """After cancelled streams, the daemon has no open file of a finished run."""
    run_id = daemon.submit(steps=1_000_000, rate=10)
    eventually(lambda: daemon.stub.GetStats(pb.RunRef(run_id=run_id)).steps)
    for _ in range(5):
        calls: list[Any] = [
            daemon.stub.StreamSteps(pb.StreamRequest(run_id=run_id, after=-1, follow=True)),
            daemon.stub.StreamEvents(pb.StreamEventsRequest(run_id=run_id, after=-1, follow=True)),
        ]
        for call in calls:
            next(call)
        calls.append(daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id, follow=True)))
        for call in calls:
            call.cancel()
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    daemon.until(run_id)

    def open_files() -> list[Path]:
        targets = []
        for descriptor in Path(f"/proc/{daemon.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                targets.append(descriptor.readlink())
        return [path for path in targets if path.is_relative_to(daemon.run(run_id).path)]

    eventually(lambda: not open_files())
