"""Adding runs and changing their state."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.run_config import to_json
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import StateChange
from mosaic.trainer.registry.errors import (
    InvalidFieldError,
    RequestIdReusedError,
    RunExistsError,
    StateConflictError,
    UnknownRunError,
)
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.trainer.registry.conftest import NOW, AddRun, Clock, config, finish


def test_a_new_run_is_queued_with_its_configuration(registry: RunRegistry) -> None:
    """The record has the fields of the configuration."""
    run_id = new_ulid()
    requested = config(
        run_name="first try", seed=7, priority=3, parent_run=new_ulid(), params={"lr": 1e-3}
    )
    run = registry.add(run_id, requested)
    assert run == registry.get(run_id)
    assert (run.run_id, run.name, run.worker, run.mode) == (
        run_id,
        "first try",
        "echo_worker",
        "train",
    )
    assert (run.algo, run.env_id, run.seed, run.priority) == ("echo", "CartPole-v1", 7, 3)
    assert (run.state, run.created_at, run.parent_run) == ("queued", NOW, requested.parent_run)
    assert registry.config(run_id) == requested
    assert registry.details(run_id).config_json == to_json(requested)


def test_everything_survives_a_restart(path: Path, clock: Clock) -> None:
    """A reopened registry returns the same details."""
    with RunRegistry(path, clock=clock) as registry:
        run_id = registry.add(new_ulid(), config(seed=2)).run_id
        finish(registry, run_id, RunState.FAILED, exit_code=3, output_tail=["the", "end"])
        registry.annotate(run_id, add_tags=["keep"], note="look at this")
        before = registry.details(run_id)
    with RunRegistry(path) as registry:
        assert registry.details(run_id) == before
        assert registry.set_aside is None


def test_a_repeated_request_creates_one_run(registry: RunRegistry) -> None:
    """A client that retries a request gets the existing run, in any state."""
    run = registry.add(new_ulid(), config(seed=1), request_id="abc")
    finish(registry, run.run_id, RunState.FAILED)
    again = registry.add(new_ulid(), config(seed=1), request_id="abc")
    assert again == registry.get(run.run_id)
    assert registry.run_ids() == {run.run_id}


def test_the_same_configuration_creates_another_run(registry: RunRegistry) -> None:
    """Submitting a failed configuration again never returns the old run."""
    run = registry.add(new_ulid(), config())
    finish(registry, run.run_id, RunState.FAILED)
    assert registry.add(new_ulid(), config()).run_id != run.run_id


def test_a_request_id_belongs_to_one_configuration(registry: RunRegistry) -> None:
    """Another configuration with the same request id is rejected; the error names the run."""
    run = registry.add(new_ulid(), config(seed=1), request_id="abc")
    with pytest.raises(RequestIdReusedError, match=run.run_id):
        registry.add(new_ulid(), config(seed=2), request_id="abc")


@pytest.mark.parametrize("request_id", ["x" * 201, "two\nlines", "\ud800"])
def test_an_invalid_request_id_is_rejected(registry: RunRegistry, request_id: str) -> None:
    """The error names the field."""
    with pytest.raises(InvalidFieldError, match="request_id"):
        registry.add(new_ulid(), config(), request_id=request_id)


def test_a_run_id_is_unique(registry: RunRegistry) -> None:
    """An existing run is not overwritten by another request."""
    run = registry.add(new_ulid(), config(), request_id="first")
    with pytest.raises(RunExistsError, match="already"):
        registry.add(run.run_id, config(), request_id="second")
    with pytest.raises(ValueError, match="not a run id"):
        registry.add("../outside", config())


def test_unknown_runs(registry: RunRegistry) -> None:
    """Every call with an unknown run raises an error without control characters."""
    missing = new_ulid()
    for method in (
        registry.get,
        registry.details,
        registry.config,
        registry.paused_seconds,
        registry.delete,
    ):
        with pytest.raises(UnknownRunError, match=missing):
            method(missing)
    with pytest.raises(UnknownRunError) as rejected:
        registry.get("\x1b[2J" + "x" * 10_000)
    assert rejected.value.message.isprintable()
    assert len(rejected.value.message) < 200


def test_the_history_of_a_run(registry: RunRegistry, add_run: AddRun, clock: Clock) -> None:
    """Each state with its time and reason, in order; the record has start and end times."""
    run_id = add_run().run_id
    for state, before in (
        (RunState.PREPARING, RunState.QUEUED),
        (RunState.RUNNING, RunState.PREPARING),
        (RunState.PAUSED, RunState.RUNNING),
        (RunState.RUNNING, RunState.PAUSED),
        (RunState.SUCCEEDED, RunState.RUNNING),
    ):
        clock.now += 10
        registry.transition(run_id, {before}, state, f"now {state}")
    assert registry.details(run_id).history == (
        StateChange(state=RunState.QUEUED, t=NOW),
        StateChange(state=RunState.PREPARING, t=NOW + 10, reason="now preparing"),
        StateChange(state=RunState.RUNNING, t=NOW + 20, reason="now running"),
        StateChange(state=RunState.PAUSED, t=NOW + 30, reason="now paused"),
        StateChange(state=RunState.RUNNING, t=NOW + 40, reason="now running"),
        StateChange(state=RunState.SUCCEEDED, t=NOW + 50, reason="now succeeded"),
    )
    run = registry.get(run_id)
    assert (run.started_at, run.ended_at) == (NOW + 20, NOW + 50)
    assert run.reason == "now succeeded"


def test_recorded_times_take_precedence(registry: RunRegistry, add_run: AddRun) -> None:
    """The start and end times that a process recorded are used instead of the current time."""
    run_id = add_run().run_id
    registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, "")
    registry.transition(run_id, {RunState.PREPARING}, RunState.RUNNING, "", started_at=NOW - 60)
    run = registry.transition(
        run_id,
        LIVE_STATES,
        RunState.FAILED,
        "it crashed",
        remedy="Look at its output.",
        exit_code=-11,
        ended_at=NOW - 5,
    )
    assert (run.started_at, run.ended_at, run.exit_code) == (NOW - 60, NOW - 5, -11)
    assert (run.reason, run.remedy) == ("it crashed", "Look at its output.")


def test_a_clock_that_is_set_back(registry: RunRegistry, add_run: AddRun, clock: Clock) -> None:
    """History and events remain in chronological order."""
    run_id = add_run().run_id
    registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, "")
    clock.now -= 86_400
    registry.transition(run_id, {RunState.PREPARING}, RunState.RUNNING, "")
    states = [change.state for change in registry.details(run_id).history]
    assert states == ["queued", "preparing", "running"]
    events = registry.events_after(0)
    assert [event.seq for event in events] == [1, 2, 3]
    assert events[-1].t < events[0].t


def test_the_output_of_a_finished_run(registry: RunRegistry, add_run: AddRun) -> None:
    """The last 50 lines, each truncated to 2,000 characters, with invalid bytes replaced."""
    run_id = add_run().run_id
    lines = [*(f"line {n}" for n in range(100)), "x" * 5_000, "not\udcffUTF-8"]
    finish(registry, run_id, RunState.FAILED, output_tail=lines)
    tail = registry.details(run_id).output_tail
    assert len(tail) == 50
    assert tail[0] == "line 52"
    assert tail[-2] == "x" * 1_999 + "…"
    assert tail[-1] == "not?UTF-8"


def test_long_reasons_are_truncated(registry: RunRegistry, add_run: AddRun) -> None:
    """A long reason is truncated; the transition is not rejected."""
    run_id = add_run().run_id
    reason = "\ud800" + "x" * 10_000
    run = registry.transition(run_id, {RunState.QUEUED}, RunState.CANCELLED, reason)
    assert run.state == RunState.CANCELLED
    assert len(run.reason) == 2_000


def test_an_unexpected_state(registry: RunRegistry, add_run: AddRun) -> None:
    """The error has the current state, and the run is unchanged."""
    run_id = add_run().run_id
    before = (registry.details(run_id), registry.last_event_seq())
    with pytest.raises(StateConflictError, match="is queued and cannot become") as conflict:
        registry.transition(run_id, LIVE_STATES, RunState.STOPPING, "stop it")
    assert conflict.value.current is RunState.QUEUED
    assert (registry.details(run_id), registry.last_event_seq()) == before


def test_a_final_state_cannot_change(registry: RunRegistry, add_run: AddRun) -> None:
    """A forbidden transition raises `ValueError` and changes nothing."""
    run_id = add_run().run_id
    finish(registry, run_id, RunState.CANCELLED)
    with pytest.raises(ValueError, match="never becomes"):
        registry.transition(run_id, set(RunState), RunState.SUCCEEDED, "reported by the worker")
    assert registry.get(run_id).state == RunState.CANCELLED


def test_one_of_many_concurrent_transitions_succeeds(
    registry: RunRegistry, add_run: AddRun
) -> None:
    """Compare-and-set from 16 threads for each run."""
    threads = 16
    barrier = threading.Barrier(threads)

    def claim(run_id: str) -> bool:
        barrier.wait(30)
        try:
            registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, "claimed")
        except StateConflictError:
            return False
        return True

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(20):
            run_id = add_run().run_id
            assert sum(pool.map(claim, [run_id] * threads)) == 1
            assert len(registry.details(run_id).history) == 2


def test_one_request_from_many_threads(registry: RunRegistry) -> None:
    """All threads get the same run."""
    barrier = threading.Barrier(8)

    def submit(_: int) -> str:
        barrier.wait(30)
        return registry.add(new_ulid(), config(), request_id="once").run_id

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(submit, range(8)))) == 1
    assert len(registry.run_ids()) == 1


def test_reading_does_not_wait_for_a_write(registry: RunRegistry, add_run: AddRun) -> None:
    """During a transaction, readers see the previous state."""
    run_id = add_run().run_id
    with registry._database.writing() as connection, ThreadPoolExecutor(1) as pool:
        connection.execute("UPDATE run SET state = 'running'")
        assert pool.submit(registry.get, run_id).result(30).state == RunState.QUEUED
    assert registry.get(run_id).state == RunState.RUNNING


def test_the_queue(registry: RunRegistry, add_run: AddRun, clock: Clock) -> None:
    """Highest priority first, then in the order of submission, independent of the clock."""
    first = add_run(priority=0).run_id
    clock.now -= 1_000
    second = add_run(priority=0).run_id
    urgent = add_run(priority=5).run_id
    running = add_run(priority=9).run_id
    registry.transition(running, {RunState.QUEUED}, RunState.PREPARING, "")
    queued = [run.run_id for run in registry.in_states({RunState.QUEUED})]
    assert queued == [urgent, first, second]
    positions = [registry.details(run_id).queue_position for run_id in (*queued, running)]
    assert positions == [1, 2, 3, None]
    assert registry.counts_by_state() == {"queued": 3, "preparing": 1}
    assert registry.in_states(()) == []


def test_an_imported_run(registry: RunRegistry) -> None:
    """An imported run is added with its state, times and output."""
    run = registry.add(
        new_ulid(),
        config(),
        state=RunState.FAILED,
        reason="imported",
        created_at=NOW - 500,
        started_at=NOW - 400,
        ended_at=NOW - 300,
        exit_code=1,
        output_tail=["last line"],
    )
    assert (run.state, run.reason, run.exit_code) == ("failed", "imported", 1)
    assert (run.created_at, run.started_at, run.ended_at) == (NOW - 500, NOW - 400, NOW - 300)
    assert registry.details(run.run_id).output_tail == ("last line",)


def test_a_deleted_run_leaves_no_rows(registry: RunRegistry, add_run: AddRun) -> None:
    """Its request id can be used again, and other runs are unchanged."""
    other = add_run()
    run = registry.add(new_ulid(), config(seed=1), request_id="abc")
    registry.annotate(run.run_id, add_tags=["deleted"])
    registry.delete(run.run_id)
    assert registry.run_ids() == {other.run_id}
    for table in ("run_digest", "run_document", "state_change"):
        rows = registry._rows(f"SELECT count(*) FROM {table}")  # noqa: S608
        assert rows == [(1,)]
    assert registry._rows("SELECT * FROM run_tag") == []
    assert registry.add(new_ulid(), config(seed=2), request_id="abc").seed == 2
