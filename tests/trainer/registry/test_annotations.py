"""Annotations of a run: name, note, tags and archived flag."""

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mosaic.contract.run_events import RunAnnotated
from mosaic.trainer.registry.errors import InvalidFieldError, UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.trainer.registry.conftest import AddRun


def test_name_note_tags_and_archive(registry: RunRegistry, add_run: AddRun) -> None:
    """Each can be set separately; omitted fields are unchanged."""
    run_id = add_run(run_name="initial name").run_id
    registry.annotate(run_id, note="first\n\tsecond")
    registry.annotate(run_id, add_tags=["b", "a", " a "])
    registry.annotate(run_id, name="  better name ")
    run = registry.annotate(run_id, archived=True)
    assert (run.note, run.tags, run.name, run.archived) == (
        "first\n\tsecond",
        ("a", "b"),
        "better name",
        True,
    )
    run = registry.annotate(run_id, remove_tags=["a", "not a tag"], name="", archived=False)
    assert (run.tags, run.name, run.archived, run.note) == (("b",), "", False, "first\n\tsecond")
    assert registry.annotate(run_id, note="").note == ""
    assert registry.get(run_id).tags == ("b",)


def test_a_tag_both_removed_and_added_is_set(registry: RunRegistry, add_run: AddRun) -> None:
    """Additions are applied after removals."""
    run_id = add_run().run_id
    registry.annotate(run_id, add_tags=["a", "b"])
    run = registry.annotate(run_id, remove_tags=["a", "b"], add_tags=["b", "c"])
    assert run.tags == ("b", "c")


def test_only_a_change_adds_an_event(registry: RunRegistry, add_run: AddRun) -> None:
    """Setting the same values again adds no event."""
    run_id = add_run().run_id
    seq = registry.last_event_seq()
    registry.annotate(run_id, add_tags=["a"])
    registry.annotate(run_id, add_tags=["a"], note="", archived=False)
    (event,) = registry.events_after(seq)
    assert event.what == RunAnnotated()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "x" * 201),
        ("name", "two\nlines"),
        ("name", "\u202eturned"),
        ("name", "\ud800"),
        ("note", "x" * 10_001),
        ("note", "\x1b[2J"),
        ("note", "\udcff"),
        ("add_tags", [""]),
        ("add_tags", ["   "]),
        ("add_tags", ["x" * 101]),
        ("add_tags", ["a\tb"]),
        ("add_tags", ["\ud800"]),
        ("add_tags", [str(n) for n in range(51)]),
    ],
)
def test_invalid_fields_are_rejected(
    registry: RunRegistry, add_run: AddRun, field: str, value: object
) -> None:
    """The error names the field and has a remedy; no field of the call is changed."""
    run_id = add_run().run_id
    before = (registry.get(run_id), registry.last_event_seq())
    with pytest.raises(InvalidFieldError, match=f"`{field}`") as rejected:
        registry.annotate(run_id, **{"archived": True, field: value})  # type: ignore[arg-type]
    assert rejected.value.remedy
    assert str(rejected.value).isprintable()
    assert (registry.get(run_id), registry.last_event_seq()) == before


def test_the_limits_themselves_are_allowed(registry: RunRegistry, add_run: AddRun) -> None:
    """50 tags of 100 characters, a name of 200, a note of 10,000."""
    run_id = add_run().run_id
    tags = [f"{n:0100}" for n in range(50)]
    run = registry.annotate(run_id, add_tags=tags, name="n" * 200, note="ü" * 10_000)
    assert run.tags == tuple(tags)
    with pytest.raises(InvalidFieldError, match="51 tags"):
        registry.annotate(run_id, add_tags=["one more"])
    swapped = registry.annotate(run_id, add_tags=["one more"], remove_tags=tags[:1])
    assert len(swapped.tags) == 50


def test_an_unknown_run(registry: RunRegistry) -> None:
    """The error names the run."""
    with pytest.raises(UnknownRunError, match="missing"):
        registry.annotate("missing", note="")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=210))
def test_any_text_is_stored_exactly_or_rejected(
    registry: RunRegistry, add_run: AddRun, text: str
) -> None:
    """Any Unicode text, including lone surrogates."""
    run_id = add_run().run_id
    with contextlib.suppress(InvalidFieldError):
        assert registry.annotate(run_id, note=text).note == text
    with contextlib.suppress(InvalidFieldError):
        assert registry.annotate(run_id, name=text).name == text.strip()
    with contextlib.suppress(InvalidFieldError):
        assert registry.annotate(run_id, add_tags=[text]).tags == (text.strip(),)
