"""Streams are complete and in order, and reconnect after a daemon restart."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.contract.ids import new_ulid
from mosaic.contract.run_events import DigestChanged, EventsForgotten, RunEvent, StateChanged
from mosaic.contract.run_states import RunState
from tests.client.conftest import echo
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def finished(shared_client: TrainerClient) -> str:
    """A run of 1,000 steps in 10 episodes."""
    config = echo(steps=1000, episode_length=100, garbage_every=500)
    return shared_client.wait(shared_client.submit(config).run_id).run_id


def test_steps_come_once_and_in_order(shared_client: TrainerClient, finished: str) -> None:
    """From the start, and from a cursor on, also from one in the middle of a chunk."""
    steps = list(shared_client.steps(finished))
    assert [seq for seq, _ in steps] == list(range(1000))
    assert [step.step for _, step in steps] == list(range(100)) * 10
    assert list(shared_client.steps(finished, after=700)) == steps[701:]
    lines = list(shared_client.step_lines(finished, after=997))
    assert [seq for seq, _ in lines] == [998, 999]
    assert b'"step"' in lines[0][1]


def test_newest_only_skips_older_steps(shared_client: TrainerClient, finished: str) -> None:
    """The last step is included, and the first is not."""
    seqs = [seq for seq, _ in shared_client.steps(finished, newest_only=True)]
    assert seqs[-1] == 999
    assert 0 not in seqs


def test_other_telemetry_of_a_run(shared_client: TrainerClient, finished: str) -> None:
    """Metrics, episodes, events, counts, curves and steps of an episode."""
    assert any(metric.name == "reward" for _, metric in shared_client.metrics(finished))
    episodes = sorted(shared_client.episodes(finished), key=lambda episode: episode.episode)
    assert [episode.steps for episode in episodes] == [100] * 10
    (bye,) = shared_client.events(finished, kind="bye")
    assert getattr(bye.decode(), "outcome", None) == "succeeded"
    counts = shared_client.stats(finished)
    assert (counts.steps, counts.episodes, counts.rejects) == (1000, 10, 2)
    assert "episode_return" in {series.name for series in shared_client.series(finished)}
    curve = shared_client.curve(finished, "episode_return", max_points=5)
    assert 0 < len(curve.x) == len(curve.y) <= 5
    assert curve.points == 10
    steps = shared_client.episode_steps(finished, 3, first=10, count=5)
    assert [step.step for step in steps] == [10, 11, 12, 13, 14]
    page = shared_client.episodes_page(finished, first=2, count=3)
    assert page.episodes == tuple(episodes[2:5])
    assert page.total == 10
    assert not list(shared_client.logs(finished))
    assert any("T395" in line for line in shared_client.logs(tail_lines=1000))


def test_unknown_run_raises_immediately(shared_client: TrainerClient) -> None:
    """Instead of returning an empty stream."""
    with pytest.raises(TrainerError):
        next(shared_client.steps(new_ulid(), follow=True))


def test_watch_reports_states_and_stats(shared_client: TrainerClient) -> None:
    """From before the submission to the end, with the last output lines in the final event."""
    events: list[RunEvent] = []
    with shared_client.watch(digests=True) as watched:
        run_id = shared_client.submit(echo(steps=2000, rate=2000)).run_id
        for event in watched:
            if event.run_id == run_id:
                events.append(event)
                # Not by `run`, which is the current record and may be newer than the event.
                if isinstance(event.what, StateChanged) and event.what.change.state.is_final:
                    break
    states = [event.what.change.state for event in events if isinstance(event.what, StateChanged)]
    assert states[-1] is RunState.SUCCEEDED
    assert any(isinstance(event.what, DigestChanged) for event in events)


def test_steps_survive_kill_9_and_another_port(
    daemon: DaemonUnderTest, client: TrainerClient
) -> None:
    """A stream that follows a run misses nothing and repeats nothing, twice in a row."""
    run_id = client.submit(echo(steps=6000, rate=3000)).run_id
    seqs = []
    kills_at = [500, 2500]
    for seq, _ in client.steps(run_id, follow=True):
        seqs.append(seq)
        if kills_at and seq >= kills_at[0]:
            del kills_at[0]
            before = daemon.address
            daemon.kill()
            assert daemon.start().startswith("ready ")
            assert daemon.address != before
    assert seqs == list(range(6000))
    assert client.wait(run_id, timeout_s=60).state is RunState.SUCCEEDED


def test_wait_survives_restart(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """The end of a run is received although the daemon was restarted meanwhile."""
    run_id = client.submit(echo(steps=500, rate=500)).run_id
    next(iter(client.steps(run_id, follow=True)))
    restarted = threading.Thread(target=daemon.restart)
    restarted.start()
    try:
        assert client.wait(run_id, timeout_s=60).state is RunState.SUCCEEDED
    finally:
        restarted.join()


def test_calls_survive_restart(daemon: DaemonUnderTest, client: TrainerClient) -> None:
    """The same client continues with the restarted daemon, at any port."""
    daemon.stop()
    assert daemon.start().startswith("ready ")
    assert client.health().pid == daemon.pid
    assert client.wait(client.submit(echo(steps=5)).run_id).state is RunState.SUCCEEDED


def test_reconnect_times_out(daemon: DaemonUnderTest) -> None:
    """If the daemon is not restarted, the stream raises DaemonUnreachableError."""
    with TrainerClient.connect(daemon.home, reconnect_timeout_s=0.3) as client:
        run_id = client.submit(echo(steps=100_000, rate=100)).run_id
        steps = client.steps(run_id, follow=True)
        next(steps)
        daemon.kill()
        with pytest.raises(DaemonUnreachableError):
            list(steps)


def test_stream_is_closed_from_another_thread(client: TrainerClient) -> None:
    """A waiting thread returns without an error."""
    events = client.watch()
    ended = threading.Event()

    def wait_in(stream: Iterator[RunEvent]) -> None:
        for _ in stream:
            pass
        ended.set()

    waiting = threading.Thread(target=wait_in, args=(events,))
    waiting.start()
    events.close()
    assert ended.wait(30)
    waiting.join()
    assert list(events) == []


def test_closing_the_client_ends_its_streams(daemon: DaemonUnderTest) -> None:
    """As when a window is closed while streams are open."""
    client = TrainerClient.connect(daemon.home, reconnect_timeout_s=None)
    events = client.watch()
    waiting = threading.Thread(target=lambda: list(events))
    waiting.start()
    client.close()
    waiting.join(30)
    assert not waiting.is_alive()


def test_client_closes_after_ctrl_c(daemon: DaemonUnderTest) -> None:
    """As in a notebook: the call ends, the client still works, and closing it does not hang."""
    code = """
import signal, sys
from mosaic.client import TrainerClient

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
with TrainerClient.connect(sys.argv[1]) as client:
    for attempt in range(100):
        try:
            # Repeated, because Python ignores exceptions during garbage collection.
            signal.setitimer(signal.ITIMER_REAL, 0.0001 + 0.00005 * attempt, 2.0)
            for _ in client.watch():
                pass
        except KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 0)
    client.health()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(daemon.home.path)],
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_watch_continues_with_rebuilt_registry(
    daemon: DaemonUnderTest, client: TrainerClient
) -> None:
    """A rebuilt registry restarts its numbering: no event is reported twice."""
    for _ in range(3):
        client.wait(client.submit(echo(steps=1)).run_id)
    with client.watch() as events:
        next_run = client.submit(echo(steps=1)).run_id
        assert next(events).run_id == next_run
        client.wait(next_run)
        daemon.stop()
        shutil.rmtree(daemon.home.runs)
        for file in daemon.home.registry.parent.glob("trainer.db*"):
            file.unlink()
        assert daemon.start().startswith("ready ")
        forgotten = next(event for event in events if isinstance(event.what, EventsForgotten))
        daemon.restart()
        first = client.submit(echo(steps=1)).run_id
        event = next(events)
        assert (event.run_id, isinstance(event.what, EventsForgotten)) == (first, False)
        assert event.seq > forgotten.seq
