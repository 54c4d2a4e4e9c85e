"""WatchRuns: every change of every run after any event number."""

from collections.abc import Iterable, Iterator

import grpc
import pytest

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import FINAL_STATES
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool

pytestmark = pytest.mark.process


@pytest.fixture
def daemon(daemon_pool: DaemonPool) -> Iterator[DaemonUnderTest]:
    """A new daemon without events of other tests."""
    with daemon_pool.new_daemon() as under_test:
        yield under_test


def _states(events: Iterable[pb.RunEvent]) -> list[str]:
    return [event.state.change.state for event in events if event.HasField("state")]


def _until_final(stream: Iterable[pb.RunEvent], run_id: str) -> list[pb.RunEvent]:
    events = []
    for event in stream:
        events.append(event)
        # `event.run` is the current run, which may be newer than the event.
        if event.run_id == run_id and event.state.change.state in FINAL_STATES:
            return events
    pytest.fail("the stream ended before the run ended")


def test_events_of_a_complete_run(daemon: DaemonUnderTest) -> None:
    """The states in order, numbered; the last one has exit code, reason and output."""
    stream = daemon.stub.WatchRuns(pb.WatchRunsRequest(after_seq=0, follow=True))
    run_id = daemon.submit(steps=10, exit_code=3)
    events = _until_final(stream, run_id)
    stream.cancel()
    assert _states(events) == ["queued", "preparing", "running", "failed"]
    seqs = [event.seq for event in events]
    assert seqs == sorted(set(seqs))
    last = events[-1]
    assert last.state.exit_code == last.run.exit_code == 3
    assert last.state.change.reason
    assert last.run.state == "failed"
    assert list(last.state.output_tail) == list(
        daemon.stub.GetRun(pb.RunRef(run_id=run_id)).output_tail
    )


def test_replay_from_a_number(daemon: DaemonUnderTest) -> None:
    """A client that reconnects, also after a restart, gets exactly the missed events."""
    first = daemon.submit(steps=10)
    daemon.until(first)
    everything = list(daemon.stub.WatchRuns(pb.WatchRunsRequest(after_seq=0)))
    middle = everything[1].seq
    daemon.restart()
    missed = list(daemon.stub.WatchRuns(pb.WatchRunsRequest(after_seq=middle)))
    assert [event.seq for event in missed] == [event.seq for event in everything[2:]]
    page = daemon.stub.ListRuns(pb.ListRunsRequest())
    assert page.last_event_seq == everything[-1].seq
    assert list(daemon.stub.WatchRuns(pb.WatchRunsRequest(after_seq=page.last_event_seq))) == []


def test_only_future_events(daemon: DaemonUnderTest) -> None:
    """-1 omits past events."""
    daemon.until(daemon.submit(steps=10))
    assert list(daemon.stub.WatchRuns(pb.WatchRunsRequest(after_seq=-1))) == []


def test_selected_runs_only(daemon: DaemonUnderTest) -> None:
    """With run ids, events of other runs are omitted."""
    one, other = daemon.submit(steps=10), daemon.submit(steps=10)
    daemon.until(one)
    daemon.until(other)
    events = list(daemon.stub.WatchRuns(pb.WatchRunsRequest(run_ids=[other])))
    assert {event.run_id for event in events} == {other}
    assert _states(events)[-1] == "succeeded"


def test_a_number_of_another_registry(daemon: DaemonUnderTest) -> None:
    """A client with a number that is too high has to list again, and misses no later event."""
    stream = daemon.stub.WatchRuns(pb.WatchRunsRequest(after_seq=10**9, follow=True))
    assert next(stream).HasField("forgotten")
    run_id = daemon.submit(steps=10)
    assert next(stream).run_id == run_id
    stream.cancel()


def test_digests_of_a_running_run(daemon: DaemonUnderTest) -> None:
    """With `digests`, stats are sent between the states, and the final stats at the end."""
    run_id = daemon.submit(steps=3000, rate=2000)
    stream = daemon.stub.WatchRuns(pb.WatchRunsRequest(digests=True, follow=True))
    events = _until_final(stream, run_id)
    stream.cancel()
    stats = [event for event in events if event.HasField("digest")]
    steps = [event.run.digest.steps for event in stats]
    assert len(set(steps)) > 2
    assert steps == sorted(steps)
    assert {event.seq for event in stats} == {0}
    assert events[-1].run.digest.steps == 3000


def test_annotations_and_deletion(daemon: DaemonUnderTest) -> None:
    """Both are events."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    seq = daemon.stub.ListRuns(pb.ListRunsRequest()).last_event_seq
    daemon.stub.AnnotateRun(pb.AnnotateRunRequest(run_id=run_id, add_tags=["good"], note="yes"))
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    annotated, deleted = [
        event
        for event in daemon.stub.WatchRuns(pb.WatchRunsRequest(after_seq=seq))
        if not event.HasField("artifacts")
    ]
    assert annotated.HasField("annotated")
    assert deleted.HasField("deleted")
    assert not deleted.HasField("run")


def test_hundreds_of_cancelled_watches(daemon: DaemonUnderTest) -> None:
    """Cancelled calls cause no errors in the daemon."""
    for _ in range(10):
        with daemon.open_channel() as channel:
            calls = [
                channel.unary_stream(
                    "/mosaic.trainer.v1.TrainerService/WatchRuns",
                    request_serializer=pb.WatchRunsRequest.SerializeToString,
                    response_deserializer=pb.RunEvent.FromString,
                )(pb.WatchRunsRequest(follow=True))
                for _ in range(30)
            ]
            for call in calls:
                call.cancel()
                with pytest.raises(grpc.RpcError):
                    next(call)
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid
    assert "ERROR" not in (daemon.home.logs / "daemon.log").read_text()
