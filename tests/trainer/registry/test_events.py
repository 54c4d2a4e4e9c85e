"""The numbered event log of runs."""

import threading
from pathlib import Path

import msgspec
import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.manifest import ArtifactManifest, encode_manifest
from mosaic.contract.run_events import (
    ArtifactsAvailable,
    EventsForgotten,
    RunAnnotated,
    RunDeleted,
    StateChanged,
    WarningsChanged,
)
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import StateChange
from mosaic.trainer.registry.errors import StateConflictError
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.trainer.registry.conftest import NOW, AddRun, Clock, config, finish


def test_events_of_a_run(registry: RunRegistry, add_run: AddRun, clock: Clock) -> None:
    """Every change in order, numbered from 1, each with the current run."""
    run_id = add_run().run_id
    registry.set_manifest(run_id, ArtifactManifest(tensorboard_dir="runs/a"))
    registry.set_warnings(run_id, ["slow"])
    registry.annotate(run_id, note="a note")
    clock.now += 1
    finish(registry, run_id, RunState.FAILED, exit_code=3, output_tail=["it", "broke"])
    events = registry.events_after(0)
    assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6, 7]
    assert {event.run_id for event in events} == {run_id}
    assert all(event.run == registry.get(run_id) for event in events)
    assert [event.t for event in events] == [NOW] * 4 + [NOW + 1] * 3
    manifest = encode_manifest(ArtifactManifest(tensorboard_dir="runs/a"))
    assert [event.what for event in events] == [
        StateChanged(change=StateChange(state=RunState.QUEUED, t=NOW)),
        ArtifactsAvailable(manifest_json=manifest),
        WarningsChanged(),
        RunAnnotated(),
        StateChanged(change=StateChange(state=RunState.PREPARING, t=NOW + 1, reason="next")),
        StateChanged(change=StateChange(state=RunState.RUNNING, t=NOW + 1, reason="started")),
        StateChanged(
            change=StateChange(state=RunState.FAILED, t=NOW + 1, reason="it ended"),
            exit_code=3,
            output_tail=("it", "broke"),
        ),
    ]


def test_batches_continue_after_the_last_one(registry: RunRegistry, add_run: AddRun) -> None:
    """Small batches return the same events as one large batch; at the end there are none."""
    for _ in range(7):
        add_run()
    seen, cursor = [], 0
    while batch := registry.events_after(cursor, limit=3):
        assert len(batch) <= 3
        seen += batch
        cursor = batch[-1].seq
    assert seen == registry.events_after(0)
    assert cursor == registry.last_event_seq() == 7


def test_events_of_selected_runs(registry: RunRegistry, add_run: AddRun) -> None:
    """Events of other runs are not returned."""
    one, _, three = (add_run().run_id for _ in range(3))
    events = registry.events_after(0, run_ids=[one, three, new_ulid()])
    assert [(event.seq, event.run_id) for event in events] == [(1, one), (3, three)]


def test_a_deleted_run(registry: RunRegistry, add_run: AddRun) -> None:
    """Its events remain, without the run."""
    run_id = add_run().run_id
    registry.set_manifest(run_id, ArtifactManifest(tensorboard_dir="runs/a"))
    finish(registry, run_id, RunState.FAILED, output_tail=["secret"])
    registry.delete(run_id)
    events = registry.events_after(0)
    assert events[-1].what == RunDeleted()
    assert [event.run for event in events] == [None] * 6
    assert b"secret" not in msgspec.json.encode(events)


def test_artifacts_have_one_event_for_any_number_of_changes(
    registry: RunRegistry, add_run: AddRun
) -> None:
    """Only the newest manifest of a run has an event, with the newest number."""
    run_id, other = add_run().run_id, add_run().run_id
    registry.set_manifest(other, ArtifactManifest(tensorboard_dir="runs/other"))
    for n in range(5):
        registry.set_manifest(run_id, ArtifactManifest(tensorboard_dir=f"runs/{n}"))
    events = registry.events_after(2)
    assert [(event.seq, event.run_id) for event in events] == [(3, other), (8, run_id)]
    manifest = encode_manifest(ArtifactManifest(tensorboard_dir="runs/4"))
    assert events[-1].what == ArtifactsAvailable(manifest_json=manifest)
    assert registry.events_after(5)[0].seq == 8


def test_numbers_continue_after_a_restart(path: Path) -> None:
    """No number is used twice, even if the newest run was deleted in between."""
    with RunRegistry(path) as registry:
        run_id = registry.add(new_ulid(), config()).run_id
        registry.delete(run_id)
        before = registry.events_after(0)
    with RunRegistry(path) as registry:
        assert registry.last_event_seq() == 2
        assert registry.events_after(0) == before
        registry.add(new_ulid(), config())
        assert [event.seq for event in registry.events_after(2)] == [3]


def test_forgotten_events(path: Path, clock: Clock) -> None:
    """The newest events are stored; an older cursor gets `EventsForgotten` first."""
    with RunRegistry(path, clock=clock, kept_events=10) as registry:
        for _ in range(25):
            registry.add(new_ulid(), config())
        events = registry.events_after(3)
        assert events[0].what == EventsForgotten()
        assert (events[0].run_id, events[0].run, events[0].t) == ("", None, NOW)
        assert [event.seq for event in events[1:]] == list(range(events[0].seq + 1, 26))
        assert len(events) - 1 >= 10
        assert registry.events_after(events[0].seq) == events[1:]
        assert registry.events_after(0, limit=1) == events[:1]
        assert registry.events_after(20) == events[-5:]
        (stored,) = registry._rows("SELECT count(*) FROM event")
        assert stored[0] == len(events) - 1


def test_no_event_is_forgotten_below_the_limit(path: Path) -> None:
    """A registry with fewer events than its limit returns all of them."""
    with RunRegistry(path, kept_events=1_000) as registry:
        for _ in range(20):
            registry.add(new_ulid(), config())
        assert [event.seq for event in registry.events_after(0)] == list(range(1, 21))


def test_a_cursor_of_another_registry(registry: RunRegistry, add_run: AddRun) -> None:
    """The follower restarts instead of waiting forever."""
    add_run()
    (event,) = registry.events_after(5_000)
    assert (event.seq, event.what) == (1, EventsForgotten())
    assert registry.events_after(1) == []
    assert registry.events_after(-1) == registry.events_after(0)


def test_on_change_is_called_after_the_commit(path: Path) -> None:
    """Once per change, which can be read in the callback."""
    seen_seqs: list[int] = []
    with RunRegistry(
        path, on_change=lambda: seen_seqs.append(registry.last_event_seq())
    ) as registry:
        run_id = registry.add(new_ulid(), config()).run_id
        registry.add(new_ulid(), config(), request_id="a")
        registry.add(new_ulid(), config(), request_id="a")
        registry.annotate(run_id, note="")
        registry.set_paused_seconds(run_id, 1)
        with pytest.raises(StateConflictError):
            registry.transition(run_id, (), RunState.CANCELLED, "")
        registry.transition(run_id, {RunState.QUEUED}, RunState.CANCELLED, "")
    assert seen_seqs == [1, 2, 3]


def test_a_follower_misses_no_event_during_concurrent_writes(registry: RunRegistry) -> None:
    """Eight threads add runs; a reader with a cursor sees every event once, in order."""
    writers, runs_per_writer = 8, 15
    threads = [
        threading.Thread(
            target=lambda: [registry.add(new_ulid(), config()) for _ in range(runs_per_writer)]
        )
        for _ in range(writers)
    ]
    for thread in threads:
        thread.start()
    seen: list[int] = []
    while any(thread.is_alive() for thread in threads) or registry.last_event_seq() > len(seen):
        seen += [event.seq for event in registry.events_after(seen[-1] if seen else 0)]
    for thread in threads:
        thread.join()
    assert seen == list(range(1, writers * runs_per_writer + 1))
