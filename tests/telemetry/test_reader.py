"""Reading during ingest, by cursor and by position."""

import random
import sqlite3
from collections.abc import Callable

import pytest

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.telemetry.conftest import Spool, step

Stored = Callable[[], TelemetryReader]


@pytest.mark.parametrize("environments", [1, 3, 64])
def test_any_range_of_any_episode(spool: Spool, stored: Stored, environments: int) -> None:
    """Exactly the requested steps are returned for any interleaving of the episodes."""
    length = 700
    spool.write(
        *(step(n, f"e{index}", obs=index) for n in range(length) for index in range(environments))
    )
    reader = stored()
    rng = random.Random(3)
    for _ in range(40):
        episode = rng.randrange(environments)
        first = rng.randrange(length)
        last = first + rng.randrange(200)
        records = reader.steps(episode, first, last)
        assert [record.step for record in records] == list(range(first, min(last, length - 1) + 1))
        assert {record.obs for record in records} == {episode}


def test_sampled_steps_with_gaps(spool: Spool, stored: Stored) -> None:
    """Only every seventh step was recorded; a range returns those inside it."""
    spool.write(*(step(n) for n in range(0, 9_000, 7)))
    assert [r.step for r in stored().steps(0, 4_000, 4_030)] == [4_004, 4_011, 4_018, 4_025]


def test_a_cursor_sees_each_step_once_during_ingest(run: RunDirectory, spool: Spool) -> None:
    """A reader that follows ingest gets every step once, in order."""
    with TelemetryService(run) as service:
        spool.write(step(0))
        service.ingest()
        with TelemetryReader(run) as reader:
            cursor, seen = -1, []
            for n in range(1, 1_500):
                spool.write(step(n))
                if n % 11 == 0:
                    service.ingest()
                    new = reader.steps_after(cursor)
                    seen += [item.step.step for item in new]
                    cursor = new[-1].seq
            service.ingest()
            seen += [item.step.step for item in reader.steps_after(cursor)]
    assert seen == list(range(1_500))


def test_chunks_are_returned_as_stored(spool: Spool, stored: Stored) -> None:
    """A stream resumes within a chunk by skipping known lines."""
    spool.write(*(step(n) for n in range(1_100)))
    reader = stored()
    chunks = reader.chunks_after("step", 600)
    assert [(chunk.first_seq, chunk.lines) for chunk in chunks] == [(512, 512), (1_024, 76)]
    assert reader.chunks_after("step", 1_099) == []
    assert len(reader.chunks_after("step", -1, limit=1)) == 1


def test_large_lines_make_small_chunks(spool: Spool, stored: Stored) -> None:
    """Chunks are limited in bytes, so that seeking stays fast."""
    spool.write(*(step(n, obs="x" * 50_000) for n in range(40)))
    reader = stored()
    assert max(chunk.lines for chunk in reader.chunks_after("step", -1, limit=99)) < 40
    assert [record.step for record in reader.steps(0, 17, 19)] == [17, 18, 19]


def test_episodes_by_revision(run: RunDirectory, spool: Spool) -> None:
    """A list of episodes is updated by reading the changed ones."""
    with TelemetryService(run) as service:
        spool.write(step(0, "a"), step(0, "b"))
        service.ingest()
        with TelemetryReader(run) as reader:
            known = {e.episode_id: e for e in reader.episodes_after(0)}
            assert set(known) == {"a", "b"}
            newest = max(e.revision for e in known.values())
            spool.write({"type": "episode", "episode_id": "a", "steps": 1, "return": 3.5})
            service.ingest()
            (changed,) = reader.episodes_after(newest)
    assert (changed.episode_id, changed.total_return, changed.is_over) == ("a", 3.5, True)


def test_more_episodes_than_are_cached(spool: Spool, stored: Stored) -> None:
    """An evicted episode is loaded again for its next line."""
    count = 5_000
    spool.write(*(step(n, f"e{e}") for n in range(2) for e in range(count)))
    reader = stored()
    assert reader.stats().episodes == count
    assert reader.stats().duplicate_steps == 0
    assert [r.step for r in reader.steps(4_321)] == [0, 1]


def test_a_reader_never_blocks_the_writer(run: RunDirectory, spool: Spool) -> None:
    """An open read transaction does not block a commit."""
    with TelemetryService(run) as service:
        spool.write(*(step(n) for n in range(2_000)))
        assert service.ingest()
        connection = sqlite3.connect(run.store)
        rows = connection.execute("SELECT * FROM step_chunk")
        rows.fetchone()
        spool.write(step(2_000))
        assert service.ingest()
        assert service.status().fault is None
        rows.close()
        connection.close()


def test_a_slow_spool_does_not_fill_the_write_ahead_log(run: RunDirectory, spool: Spool) -> None:
    """Many small commits are checkpointed too."""
    with TelemetryService(run) as service:
        for n in range(600):
            spool.write(step(n))
            service.ingest()
        assert run.store.with_name("telemetry.db-wal").stat().st_size < 16 << 20


@pytest.mark.parametrize("pause", [1, 7, 600])
def test_interleaved_agents_read_the_same_after_any_restart(
    run: RunDirectory, spool: Spool, pause: int
) -> None:
    """Steps of several agents, with gaps, are returned once each."""
    rng = random.Random(pause)
    counters = {"a": 0, "b": 0, "c": 0}
    written = []
    for n in range(600):
        agent = rng.choice("abc")
        counters[agent] += rng.choice((1, 1, 1, 5))
        written.append((counters[agent], agent))
        spool.write(step(counters[agent], agent_id=agent))
        if n % pause == 0:
            with TelemetryService(run) as service:
                service.ingest()
    with TelemetryService(run) as service:
        assert service.finish()
    with TelemetryReader(run) as reader:
        steps = [(record.step, record.agent_id) for record in reader.steps(0)]
    assert sorted(steps, key=str) == sorted(written, key=str)
    assert [number for number, _ in steps] == sorted(number for number, _ in steps)


def test_times_since_the_start_become_times_since_the_epoch(
    run: RunDirectory, spool: Spool, stored: Stored
) -> None:
    """A small `t` is relative to the start of the run."""
    run.started.write_bytes(
        b'{"pid":1,"start_ticks":1,"boot_id":"x","t":1.8e9,"supervisor":{"pid":1,"start_ticks":1}}'
    )
    spool.write(step(0, t=5.5), {"type": "metric", "name": "m", "value": 1, "t": 7})
    reader = stored()
    assert reader.steps(0)[0].t == 1.8e9 + 5.5
    assert reader.metrics_after(-1)[0].metric.t == 1.8e9 + 7
    assert reader.curve("m", axis="t").x == [1.8e9 + 7]


def test_the_write_ahead_log_stays_small(
    run: RunDirectory, spool: Spool, caplog: pytest.LogCaptureFixture
) -> None:
    """It is checkpointed during ingest, with SQLite's result logged, and truncated at the end."""
    caplog.set_level("INFO")
    with TelemetryService(run) as service:
        for start in range(0, 60_000, 6_000):
            spool.write(*(step(n, obs="y" * 60) for n in range(start, start + 6_000)))
            while service.ingest():
                pass
    wal = run.store.with_name("telemetry.db-wal")
    assert not wal.exists() or wal.stat().st_size == 0
    messages = [r.getMessage() for r in caplog.records if r.getMessage().startswith("T201")]
    assert len(messages) > 2
    assert all("(busy, log, checkpointed) = (0, " in message for message in messages)
