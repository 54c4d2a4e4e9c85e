"""StreamLogs and StreamFrames: files that a worker writes, followed to the end of its run."""

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

_UNSAFE = UserError("no ordinary file", remedy="")


def _rest(follower: LogFollower) -> bytes:
    data = b""
    while (block := follower.read()) is not None:
        data += block.data
    return data


@pytest.mark.process
def test_the_log_of_a_run_to_its_end(daemon: DaemonUnderTest) -> None:
    """Everything the worker printed, from any byte on; the stream ends with the run."""
    run_id = daemon.submit(steps=1000, rate=2000)
    parts = list(daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id, follow=True)))
    whole = daemon.run(run_id).worker_log.read_bytes()
    assert b"".join(part.data for part in parts) == whole
    assert not parts or parts[-1].end == len(whole)
    assert daemon.record(run_id).state == "succeeded"
    with daemon.run(run_id).worker_log.open("ab") as log:
        log.write(b"eins\nzwei\ndrei\n")
    after = daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id, after=len(whole) + 5))
    assert b"".join(part.data for part in after) == b"zwei\ndrei\n"
    tail = daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id, tail_lines=1))
    assert b"".join(part.data for part in tail) == b"drei\n"


@pytest.mark.process
def test_the_daemons_own_log(daemon: DaemonUnderTest) -> None:
    """Without a run id; followed while it grows."""
    stream = daemon.stub.StreamLogs(pb.StreamLogsRequest(follow=True))
    assert b"T395" in next(stream).data
    run_id = daemon.submit(steps=10)
    while run_id.encode() not in next(stream).data:
        pass
    stream.cancel()


@pytest.mark.process
def test_a_log_that_leads_elsewhere(daemon: DaemonUnderTest) -> None:
    """A worker that replaces its log by a link does not have the token read."""
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
    """A view that looks seldom gets the newest frame each time, with what led to it."""
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
    """An empty stream that ends with the run, also when the file is none of frames."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    assert list(daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run_id))) == []
    daemon.run(run_id).frames.write_bytes(struct.pack("<8s6I", b"MOSAICFR", 1, *[2**31] * 5))
    assert list(daemon.stub.StreamFrames(pb.StreamFramesRequest(run_id=run_id))) == []


def test_a_log_that_is_rotated(tmp_path: Path) -> None:
    """What was written to the old file comes first, then the new one from its start."""
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


def test_a_log_that_is_cut(tmp_path: Path) -> None:
    """Read again from its start, not waited for until it has grown as long as before."""
    path = tmp_path / "worker.log"
    path.write_bytes(b"a long line\n")
    follower = LogFollower(path, _UNSAFE)
    follower.seek(5)
    assert _rest(follower) == b"g line\n"
    os.truncate(path, 0)
    path.write_bytes(b"new\n")
    assert _rest(follower) == b"new\n"
    follower.close()


def test_a_log_that_comes_later(tmp_path: Path) -> None:
    """A queued run has none yet."""
    follower = LogFollower(tmp_path / "worker.log", _UNSAFE)
    follower.seek_to_last_lines(3)
    assert follower.read() is None
    (tmp_path / "worker.log").write_bytes(b"here\n")
    assert _rest(follower) == b"here\n"
    follower.close()


def test_a_pipe_in_place_of_a_log(tmp_path: Path) -> None:
    """Rejected, not waited for."""
    os.mkfifo(tmp_path / "worker.log")
    with pytest.raises(UserError, match="ordinary"):
        LogFollower(tmp_path / "worker.log", _UNSAFE).read()


@pytest.mark.parametrize("ending", [b"", b"\n"])
@pytest.mark.parametrize("lines", [1, 2, 7, 5000, 20_000])
def test_the_last_lines(tmp_path: Path, lines: int, ending: bytes) -> None:
    """Exactly as many as asked for, or all there are, whether or not the last one is ended."""
    path = tmp_path / "worker.log"
    written = [b"line %d of a log" % number for number in range(10_000)]
    path.write_bytes(b"\n".join(written) + ending)
    follower = LogFollower(path, _UNSAFE)
    follower.seek_to_last_lines(lines)
    assert _rest(follower).splitlines() == written[-lines:]
    follower.close()


@pytest.mark.process
def test_streams_that_clients_left_hold_no_files(daemon: DaemonUnderTest) -> None:
    """However many came and went, nothing of a run is open in the daemon once the run is over."""
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
        found = []
        for descriptor in Path(f"/proc/{daemon.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                found.append(descriptor.readlink())
        return [path for path in found if path.is_relative_to(daemon.run(run_id).path)]

    eventually(lambda: not open_files())
