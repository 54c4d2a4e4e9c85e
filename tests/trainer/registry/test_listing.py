"""Listing runs: order, filters, text search and pages."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mosaic.contract.ids import new_ulid
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery
from mosaic.trainer.registry.errors import PageTokenError
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.trainer.registry.conftest import AddRun, Clock, finish


def list_ids(registry: RunRegistry, **query: Any) -> list[str]:
    page = registry.list(RunQuery(**query))
    assert page.total == len(page.runs)
    return [run.run_id for run in page.runs]


def list_all_pages(registry: RunRegistry, size: int, **query: Any) -> list[str]:
    """Return the run ids of all pages."""
    seen: list[str] = []
    token = ""
    while True:
        page = registry.list(RunQuery(page_size=size, page_token=token, **query))
        assert len(page.runs) <= size
        seen += [run.run_id for run in page.runs]
        token = page.next_page_token
        if not token:
            return seen


def test_an_empty_registry(registry: RunRegistry) -> None:
    """The page is empty; no error is raised."""
    page = registry.list(RunQuery())
    assert (page.runs, page.next_page_token, page.total, page.last_event_seq) == ((), "", 0, 0)


def test_the_last_added_comes_first(registry: RunRegistry, add_run: AddRun, clock: Clock) -> None:
    """Also if the clock was set back in between."""
    first = add_run().run_id
    clock.now -= 3_600
    second = add_run().run_id
    assert list_ids(registry) == [second, first]


def test_filters(registry: RunRegistry, add_run: AddRun) -> None:
    """Single filters, and combinations of filters."""
    parent = add_run(worker="other_worker", algo="dqn", env_id="Taxi-v4").run_id
    child = add_run(env_id="Taxi-v4", parent_run=parent).run_id
    archived = add_run(algo="dqn").run_id
    registry.annotate(archived, archived=True)
    registry.annotate(child, add_tags=["mine"])
    finish(registry, child, RunState.SUCCEEDED)
    assert list_ids(registry) == [child, parent]
    assert list_ids(registry, include_archived=True) == [archived, child, parent]
    assert list_ids(registry, states=(RunState.SUCCEEDED,)) == [child]
    assert list_ids(registry, states=(RunState.SUCCEEDED, RunState.QUEUED)) == [child, parent]
    assert list_ids(registry, states=(RunState.LOST,)) == []
    assert list_ids(registry, worker="echo_worker") == [child]
    assert list_ids(registry, algo="dqn") == [parent]
    assert list_ids(registry, algo="dqn", include_archived=True) == [archived, parent]
    assert list_ids(registry, env_id="Taxi-v4", algo="echo") == [child]
    assert list_ids(registry, env_id="Taxi") == []
    assert list_ids(registry, tag="mine") == [child]
    assert list_ids(registry, tag="mi") == []
    assert list_ids(registry, parent_run=parent) == [child]
    assert registry.list(RunQuery(tag="mine")).runs[0].tags == ("mine",)


@pytest.mark.parametrize(
    "text",
    ["nightly", "NIGHTLY", "LunarLander", "lander-v3", "ppo", "special_w", "looks good", "keep-me"],
)
def test_text_search_covers_all_fields(registry: RunRegistry, add_run: AddRun, text: str) -> None:
    """Name, environment, algorithm, worker, note and tags, ignoring case."""
    run_id = add_run(
        run_name="nightly 5", worker="special_worker", algo="ppo", env_id="LunarLander-v3"
    ).run_id
    registry.annotate(run_id, note="this looks good", add_tags=["keep-me"])
    add_run()
    assert list_ids(registry, text=text) == [run_id]


def test_text_in_ids_and_in_other_scripts(registry: RunRegistry, add_run: AddRun) -> None:
    """A part of an id matches; case is ignored in every script."""
    run_id = add_run(run_name="ПОПЫТКА Straße").run_id
    add_run()
    assert list_ids(registry, text=run_id[-10:].lower()) == [run_id]
    assert list_ids(registry, text="попытка") == [run_id]
    assert list_ids(registry, text="STRASSE") == [run_id]


def test_text_has_no_wildcards(registry: RunRegistry, add_run: AddRun) -> None:
    """`%`, `_` and quotes match literally."""
    percent = add_run(run_name="50% done").run_id
    quote = add_run(run_name='it\'s_a "name"\\').run_id
    add_run(run_name="plain")
    assert list_ids(registry, text="%") == [percent]
    assert list_ids(registry, text="0_d") == []
    assert list_ids(registry, text="'s_a \"n") == [quote]
    assert list_ids(registry, text="\\") == [quote]
    assert list_ids(registry, text="\ud800") == []


def test_text_search_uses_current_annotations(registry: RunRegistry, add_run: AddRun) -> None:
    """The old name, note and tags are no longer found."""
    run_id = add_run(run_name="before").run_id
    registry.annotate(run_id, name="after", note="a note", add_tags=["a-tag"])
    assert list_ids(registry, text="before") == []
    assert list_ids(registry, text="after") == [run_id]
    registry.annotate(run_id, note="", remove_tags=["a-tag"])
    assert list_ids(registry, text="a note") == []
    assert list_ids(registry, text="a-tag") == []


def test_pages_are_ordered_and_complete(registry: RunRegistry, add_run: AddRun) -> None:
    """Pages of any size contain every run once; there is no empty last page."""
    added = [add_run().run_id for _ in range(12)][::-1]
    for size in (1, 4, 5, 12, 13):
        assert list_all_pages(registry, size) == added
    page = registry.list(RunQuery(page_size=4))
    assert page.total == 12
    assert registry.list(RunQuery(page_size=12)).next_page_token == ""


def test_pages_while_runs_are_added_and_deleted(registry: RunRegistry, add_run: AddRun) -> None:
    """Runs that exist throughout are listed once, whatever is added, deleted or annotated."""
    added = [add_run().run_id for _ in range(10)][::-1]
    first = registry.list(RunQuery(page_size=4))
    add_run()
    registry.delete(added[3])  # the last run of the page
    registry.delete(added[6])
    registry.annotate(added[0], note="changed")
    rest = registry.list(RunQuery(page_size=100, page_token=first.next_page_token))
    seen = [run.run_id for run in (*first.runs, *rest.runs)]
    assert seen == [run_id for run_id in added if run_id != added[6]]
    assert rest.total == 9


def test_the_key_of_a_deleted_run_is_not_reused(registry: RunRegistry, add_run: AddRun) -> None:
    """A later page never contains a run that was added after the first page."""
    add_run()
    add_run()
    newest = add_run().run_id
    token = registry.list(RunQuery(page_size=1)).next_page_token
    registry.delete(newest)
    newer = add_run().run_id
    rest = registry.list(RunQuery(page_token=token))
    assert newer not in [run.run_id for run in rest.runs]
    assert list_ids(registry)[0] == newer


def test_page_sizes(registry: RunRegistry, add_run: AddRun) -> None:
    """The default is 50 and the maximum is 1,000."""
    for _ in range(51):
        add_run()
    assert len(registry.list(RunQuery()).runs) == 50
    assert len(registry.list(RunQuery(page_size=-5)).runs) == 50
    assert len(registry.list(RunQuery(page_size=2**31 - 1)).runs) == 51
    rows = registry._rows("SELECT count(*) FROM run")
    with registry._database.writing() as connection:
        connection.execute(
            "INSERT INTO run (run_id, name, worker, mode, algo, env_id, seed, state, reason,"
            " remedy, created_at, priority) SELECT printf('%026d', value), '', 'w', 'train', '',"
            " 'e', 1, 'lost', '', '', 0, 0 FROM"
            " (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n"
            " WHERE value < 1000) SELECT value FROM n)"
        )
        connection.execute("INSERT OR IGNORE INTO run_digest (run) SELECT key FROM run")
    page = registry.list(RunQuery(page_size=5_000))
    assert len(page.runs) == 1_000
    assert page.total == 1_000 + rows[0][0]
    assert page.next_page_token


def test_a_token_belongs_to_its_list(registry: RunRegistry, add_run: AddRun) -> None:
    """A token is rejected with other filters, but accepted with another page size."""
    for _ in range(4):
        add_run()
    token = registry.list(RunQuery(page_size=1, algo="echo")).next_page_token
    with pytest.raises(PageTokenError, match="does not belong"):
        registry.list(RunQuery(page_token=token))
    assert len(registry.list(RunQuery(page_token=token, algo="echo")).runs) == 3


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(token=st.text(st.characters(), min_size=1) | st.text("AZaz09-_=", min_size=20, max_size=20))
def test_invalid_tokens(registry: RunRegistry, token: str) -> None:
    """Any invalid token raises `PageTokenError`."""
    with pytest.raises(PageTokenError):
        registry.list(RunQuery(page_token=token))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters()),
    tag=st.text(st.characters()),
    worker=st.text(st.characters()),
    parent=st.text(st.characters()),
)
def test_hostile_filters(
    registry: RunRegistry, text: str, tag: str, worker: str, parent: str
) -> None:
    """No text is interpreted as SQL or raises an error."""
    page = registry.list(RunQuery(text=text, tag=tag, worker=worker, parent_run=parent))
    assert page.total == 0


def test_watching_from_a_page_misses_no_event(registry: RunRegistry, add_run: AddRun) -> None:
    """The event number of a page matches the state of its runs."""
    add_run()
    page = registry.list(RunQuery())
    later = add_run().run_id
    assert [event.run_id for event in registry.events_after(page.last_event_seq)] == [later]
    assert registry.list(RunQuery(text=new_ulid())).last_event_seq == registry.last_event_seq()
