"""Compare the registry with a dictionary model for random sequences of operations."""

import tempfile
from functools import partial
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from mosaic.contract.ids import new_ulid
from mosaic.contract.run_events import RunAnnotated, RunDeleted, StateChanged
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery
from mosaic.trainer.registry.errors import StateConflictError
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.trainer.registry.conftest import config

_STATES = st.sampled_from(sorted(RunState))


class RegistryMachine(RuleBasedStateMachine):
    """Every rule changes the registry and the model; the invariants compare the two."""

    runs = Bundle("runs")

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "trainer.db"
        self._now = 1_000.0
        self._registry = self._open()
        self._history: dict[str, list[RunState]] = {}
        self._tags: dict[str, set[str]] = {}
        self._seen_events: list[tuple[str, str]] = []

    def _open(self) -> RunRegistry:
        return RunRegistry(self._path, clock=lambda: self._now)

    def teardown(self) -> None:
        self._registry.close()
        self._folder.cleanup()

    @rule(target=runs, priority=st.integers(-2, 2))
    def add(self, priority: int) -> str:
        run_id = self._registry.add(new_ulid(), config(priority=priority)).run_id
        self._history[run_id] = [RunState.QUEUED]
        self._tags[run_id] = set()
        self._seen_events.append((run_id, "queued"))
        return run_id

    @rule(run_id=runs, expected=st.frozensets(_STATES), to=_STATES)
    def transition(self, run_id: str, expected: frozenset[RunState], to: RunState) -> None:
        current = self._history[run_id][-1]
        change = partial(self._registry.transition, run_id, expected, to, "reason")
        if current not in expected:
            with pytest.raises(StateConflictError) as conflict:
                change()
            assert conflict.value.current == current
        elif not current.may_become(to):
            with pytest.raises(ValueError, match="never becomes"):
                change()
        else:
            assert change().state == to
            self._history[run_id].append(to)
            self._seen_events.append((run_id, str(to)))

    @rule(
        run_id=runs, added=st.sets(st.sampled_from("abc")), removed=st.sets(st.sampled_from("abc"))
    )
    def tag(self, run_id: str, added: set[str], removed: set[str]) -> None:
        self._registry.annotate(run_id, add_tags=added, remove_tags=removed)
        tags = self._tags[run_id] - removed | added
        if tags != self._tags[run_id]:
            self._tags[run_id] = tags
            self._seen_events.append((run_id, "annotated"))

    @rule(target=runs, run_id=consumes(runs), confirmed=st.booleans())
    def delete(self, run_id: str, confirmed: bool) -> object:
        if not confirmed:
            return run_id
        self._registry.delete(run_id)
        del self._history[run_id]
        del self._tags[run_id]
        self._seen_events.append((run_id, "deleted"))
        return multiple()

    @rule(seconds=st.floats(-100, 100))
    def advance_clock(self, seconds: float) -> None:
        self._now += seconds

    @rule()
    def restart(self) -> None:
        self._registry.close()
        self._registry = self._open()

    @invariant()
    def every_run_matches_the_model(self) -> None:
        page = self._registry.list(RunQuery(page_size=1_000))
        assert [run.run_id for run in page.runs] == [*self._history][::-1]
        assert page.total == len(self._history)
        for run in page.runs:
            assert run.state == self._history[run.run_id][-1]
            assert set(run.tags) == self._tags[run.run_id]
            details = self._registry.details(run.run_id)
            assert [change.state for change in details.history] == self._history[run.run_id]
        for tag in "abc":
            with_tag = {run.run_id for run in self._registry.list(RunQuery(tag=tag)).runs}
            assert with_tag == {run_id for run_id, tags in self._tags.items() if tag in tags}

    @invariant()
    def every_event_is_returned_once_and_in_order(self) -> None:
        events = self._registry.events_after(0, limit=10_000)
        assert [event.seq for event in events] == [*range(1, len(self._seen_events) + 1)]
        names = {RunAnnotated: "annotated", RunDeleted: "deleted"}
        seen_events = [
            (
                event.run_id,
                str(event.what.change.state)
                if isinstance(event.what, StateChanged)
                else names[type(event.what)],
            )
            for event in events
        ]
        assert seen_events == self._seen_events
        assert {event.run_id for event in events if event.run} == set(self._history)

    @invariant()
    def the_queue_is_in_order(self) -> None:
        queued = self._registry.in_states({RunState.QUEUED})
        positions = [self._registry.details(run.run_id).queue_position for run in queued]
        assert positions == [*range(1, len(queued) + 1)]


RegistryMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestRegistryMachine = RegistryMachine.TestCase
