"""Streams of a run's store: every line once and in order, also after a reconnect."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import grpc
import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub
from mosaic.contract.run_states import RunState
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from mosaic.trainer.service.store_view import StoreView, newest_chunk
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.service.conftest import error_details, lines_of

pytestmark = pytest.mark.process


def _step_numbers(lines: Any) -> list[tuple[str, int]]:
    return [(step["episode_id"], step["step"]) for step in map(json.loads, lines)]


def _written(daemon: DaemonUnderTest, run_id: str) -> list[tuple[str, int]]:
    spool = daemon.run(run_id).spool.read_bytes().splitlines()
    return _step_numbers(line for line in spool if json.loads(line)["type"] == "step")


def test_history_and_live_are_one_stream(daemon: DaemonUnderTest) -> None:
    """From the first line to the end of the run: every step, in order, exactly once."""
    run_id = daemon.submit(steps=3000, rate=3000, episode_length=70)
    stream = daemon.stub.StreamSteps(pb.StreamRequest(run_id=run_id, after=-1, follow=True))
    received = _step_numbers(lines_of(stream))
    assert len(received) == 3000
    assert received == _written(daemon, run_id)
    assert daemon.record(run_id).state == "succeeded"


def test_an_interrupted_stream_is_resumed(daemon: DaemonUnderTest) -> None:
    """After a disconnect, even by a daemon crash, a client gets each line exactly once."""
    run_id = daemon.submit(steps=4000, rate=2000)
    seen: list[bytes] = []

    def receive(limit: int | None) -> None:
        request = pb.StreamRequest(run_id=run_id, after=len(seen) - 1, follow=True)
        for line in lines_of(daemon.stub.StreamSteps(request), len(seen) - 1):
            seen.append(line)
            if limit is not None and len(seen) >= limit:
                return

    receive(700)
    daemon.kill()
    daemon.restart()
    receive(1500)
    receive(None)
    assert _step_numbers(seen) == _written(daemon, run_id)


def test_without_follow_the_stream_ends_at_the_last_line(daemon: DaemonUnderTest) -> None:
    """The stream of an active run ends after the lines stored so far."""
    run_id = daemon.submit(steps=1_000_000, rate=500)
    eventually(lambda: daemon.stub.GetStats(pb.RunRef(run_id=run_id)).steps > 100)
    lines = list(lines_of(daemon.stub.StreamSteps(pb.StreamRequest(run_id=run_id, after=-1))))
    assert len(lines) > 100
    assert daemon.record(run_id).state == "running"


_SMALL_WINDOW = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536))
"""Channel options that limit how much the daemon sends to a client that does not read."""


def _write_many_steps(daemon: DaemonUnderTest, run_id: str) -> None:
    """Write megabytes of incompressible steps, more than a connection buffers."""
    eventually(lambda: daemon.stub.GetStats(pb.RunRef(run_id=run_id)).steps)
    step = {"type": "step", "action": 0, "reward": 0.0, "terminated": False, "truncated": False}
    lines = (
        json.dumps({**step, "episode_id": "large", "step": number, "obs": os.urandom(2000).hex()})
        for number in range(5000)
    )
    with daemon.run(run_id).spool.open("a") as spool:
        spool.write("\n".join(lines) + "\n")
    eventually(lambda: daemon.stub.GetStats(pb.RunRef(run_id=run_id)).steps > 5000)


def test_a_slow_client_loses_no_line_and_delays_no_other(daemon: DaemonUnderTest) -> None:
    """A client that pauses reading gets all lines later; the run and other clients do not wait."""
    run_id = daemon.submit(steps=1_000_000, rate=10)
    request = pb.StreamRequest(run_id=run_id, after=-1, follow=True)
    with daemon.open_channel(*_SMALL_WINDOW) as channel:
        slow = lines_of(TrainerServiceStub(channel).StreamSteps(request))
        first = next(slow)
        _write_many_steps(daemon, run_id)
        daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
        daemon.until(run_id)
        fast = list(lines_of(daemon.stub.StreamSteps(request)))
        assert len(fast) > 5000
        assert [first, *slow] == fast


def test_newest_only_reports_how_many_were_skipped(daemon: DaemonUnderTest) -> None:
    """A live view gets the newest lines and the number of skipped lines."""
    run_id = daemon.submit(steps=20_000, rate=0)
    daemon.until(run_id)
    request = pb.StreamRequest(run_id=run_id, after=-1, newest_only=True)
    (chunk,) = list(daemon.stub.StreamSteps(request))
    assert chunk.first_seq + chunk.lines == 20_000
    assert chunk.skipped == chunk.first_seq > 10_000
    at_the_end = pb.StreamRequest(run_id=run_id, after=19_999, newest_only=True, follow=True)
    assert list(daemon.stub.StreamSteps(at_the_end)) == []


def test_newest_only_accounts_for_every_line(daemon: DaemonUnderTest) -> None:
    """The sent and skipped lines of an active run add up to all lines."""
    run_id = daemon.submit(steps=30_000, rate=15_000)
    request = pb.StreamRequest(
        run_id=run_id, after=-1, newest_only=True, follow=True, min_interval_s=0.2
    )
    next_seq = 0
    for chunk in daemon.stub.StreamSteps(request):
        assert chunk.first_seq <= next_seq + chunk.skipped
        next_seq = chunk.first_seq + chunk.lines
    assert next_seq == 30_000


def test_metrics_and_episodes_and_events(daemon: DaemonUnderTest) -> None:
    """All metrics, the last revision of each episode, and events by type."""
    run_id = daemon.submit(steps=1000, rate=1000, episode_length=100)
    request = pb.StreamRequest(run_id=run_id, after=-1, follow=True)
    metrics = list(lines_of(daemon.stub.StreamMetrics(request)))
    episodes: dict[int, pb.Episode] = {}
    revision = -1
    for batch in daemon.stub.StreamEpisodes(request):
        for episode in batch.episodes:
            assert episode.revision > revision
            revision = episode.revision
            episodes[episode.episode] = episode
    assert [(e.steps, e.is_over) for e in episodes.values()] == [(100, True)] * 10
    stats = daemon.stub.GetStats(pb.RunRef(run_id=run_id))
    assert len(metrics) == stats.types["metric"]

    def events(**fields: Any) -> list[pb.EventLine]:
        requested = pb.StreamEventsRequest(run_id=run_id, after=-1, follow=True, **fields)
        return [event for batch in daemon.stub.StreamEvents(requested) for event in batch.events]

    everything = events()
    assert [event.seq for event in everything] == list(range(len(everything)))
    starts = events(type="episode_start")
    assert len(starts) == 10
    assert {event.type for event in starts} == {"episode_start"}
    assert json.loads(everything[0].line)["type"] == "hello"
    (newest,) = daemon.stub.StreamEpisodes(
        pb.StreamRequest(run_id=run_id, after=-1, newest_only=True)
    )
    assert [episode.revision for episode in newest.episodes] == [revision]


def test_the_stream_of_a_queued_run(tmp_path: Path) -> None:
    """The stream is empty, or waits for the first line if it follows."""
    daemon = DaemonUnderTest(tmp_path, ("--max-runs", "1"))
    try:
        daemon.start()
        first = daemon.submit(steps=1_000_000, rate=100)
        daemon.until(first, RunState.RUNNING)
        waiting = daemon.submit(steps=50)
        assert list(daemon.stub.StreamSteps(pb.StreamRequest(run_id=waiting, after=-1))) == []
        assert daemon.stub.GetStats(pb.RunRef(run_id=waiting)).steps == 0
        stream = daemon.stub.StreamSteps(pb.StreamRequest(run_id=waiting, after=-1, follow=True))
        daemon.stub.CancelRun(pb.CancelRunRequest(run_id=first, grace_s=0.1))
        assert len(list(lines_of(stream))) == 50
    finally:
        daemon.clean_up()


def test_a_run_that_is_deleted_during_a_stream(daemon: DaemonUnderTest) -> None:
    """The stream ends with an error that says that the run was deleted."""
    run_id = daemon.submit(steps=1_000_000, rate=10)
    _write_many_steps(daemon, run_id)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    daemon.until(run_id)
    with daemon.open_channel(*_SMALL_WINDOW) as channel:
        stream = TrainerServiceStub(channel).StreamSteps(pb.StreamRequest(run_id=run_id, after=-1))
        next(stream)
        daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
        with pytest.raises(grpc.RpcError) as caught:
            list(stream)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert "deleted" in (caught.value.details() or "")
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


@pytest.mark.parametrize("name", ["StreamSteps", "StreamMetrics", "StreamEpisodes", "StreamEvents"])
def test_an_unknown_run(daemon: DaemonUnderTest, name: str) -> None:
    """The call fails with NOT_FOUND instead of waiting."""
    kind = pb.StreamEventsRequest if name == "StreamEvents" else pb.StreamRequest
    with pytest.raises(grpc.RpcError) as caught:
        list(getattr(daemon.stub, name)(kind(run_id=new_ulid(), follow=True)))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_a_damaged_store(daemon: DaemonUnderTest) -> None:
    """The error has a remedy, and the daemon keeps running."""
    run_id = daemon.submit(steps=2000)
    daemon.until(run_id)
    store = daemon.run(run_id).store
    store.write_bytes(b"\xff" * store.stat().st_size)
    for leftover in store.parent.glob("telemetry.db-*"):
        leftover.unlink()
    with pytest.raises(grpc.RpcError) as caught:
        list(daemon.stub.StreamSteps(pb.StreamRequest(run_id=run_id, after=-1)))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "rebuilt" in error_details(caught.value)["mosaic-remedy"]
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


def test_a_symlinked_store_is_rejected(daemon: DaemonUnderTest) -> None:
    """A worker cannot expose other files by replacing its store with a link."""
    run_id, other = daemon.submit(steps=10), daemon.submit(steps=10)
    daemon.until(run_id)
    daemon.until(other)
    store = daemon.run(run_id).store
    store.unlink()
    store.symlink_to(daemon.run(other).store)
    with pytest.raises(grpc.RpcError) as caught:
        daemon.stub.GetStats(pb.RunRef(run_id=run_id))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "not a regular file" in (caught.value.details() or "")


def _store(tmp_path: Path, lines: int, size: int = 0) -> RunDirectory:
    run = RunDirectory(tmp_path / new_ulid())
    run.path.mkdir()
    with run.spool.open("w") as spool:
        for step in range(lines):
            line = {"type": "step", "episode_id": "e", "step": step, "action": 0, "reward": 0.0}
            flags = {"terminated": False, "truncated": False, "obs": "x" * size}
            spool.write(json.dumps({**line, **flags}) + "\n")
    with TelemetryService(run) as service:
        while service.ingest():
            pass
        assert service.finish()
    return run


@pytest.mark.parametrize("lines", [1, 511, 512, 513, 3000, 20_000])
@pytest.mark.parametrize("size", [0, 2000])
def test_the_newest_chunk_is_found_from_any_cursor(tmp_path: Path, lines: int, size: int) -> None:
    """For any cursor and chunk size, the last chunk is returned."""
    run = _store(tmp_path, lines, size if lines < 5000 else 0)
    with TelemetryReader(run) as reader:
        chunks = reader.chunks_after("step", -1, 1_000_000)
        for after in {-1, lines // 3 - 1, lines - 2}:
            assert newest_chunk(reader, "step", after) == chunks[-1]
        assert newest_chunk(reader, "step", lines - 1) is None
        assert newest_chunk(reader, "metric", -1) is None


def test_a_rebuilt_store_is_read(tmp_path: Path) -> None:
    """No restart is needed after a damaged store was moved."""
    run = _store(tmp_path, 10)
    with StoreView(run) as view:
        assert view.read(lambda reader: reader.stats().steps) == 10
        shutil.move(run.store, tmp_path / "aside")
        assert view.read(lambda reader: reader.stats().steps) is None
        with TelemetryService(run) as service:
            while service.ingest():
                pass
        assert view.read(lambda reader: reader.stats().steps) == 10
