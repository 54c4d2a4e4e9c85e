"""Changes of a BDI agent's state: from `bdi` events and from steps."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.bdi import BdiChange, Intention, change_from_event, change_from_step
from mosaic.contract.decode import RejectedLineError, decode, decode_head_fast
from mosaic.contract.events import BdiEvent, StepRecord

FIELDS: dict[str, Any] = {
    "added": ["phase(explore)", "NaN"],
    "removed": ["phase(rest)"],
    "goals": ["train(10)"],
    "intentions": [{"goal": "train(10)", "plan": "practise", "depth": 2}, {"goal": "rest"}],
    "plan": "practise",
    "confidence": 0.25,
}
CHANGE = BdiChange(
    added=("phase(explore)", "NaN"),
    removed=("phase(rest)",),
    goals=("train(10)",),
    intentions=(Intention(goal="train(10)", plan="practise", depth=2), Intention(goal="rest")),
    plan="practise",
    confidence=0.25,
)


def test_a_bdi_event_and_a_step_decode_alike() -> None:
    """An event and a step with the same fields give the same change."""
    event = decode(json.dumps({"type": "bdi", "step": 3, "agent_id": "a", **FIELDS}).encode())
    assert isinstance(event, BdiEvent)
    assert (event.step, event.agent_id) == (3, "a")
    assert change_from_event(event) == CHANGE
    assert change_from_step(FIELDS) == CHANGE
    assert change_from_event(BdiEvent()) == BdiChange()


@pytest.mark.parametrize(
    "fields",
    [
        {"added": "phase(explore)"},
        {"added": [1]},
        {"goals": {"g": 1}},
        {"intentions": [{"plan": "p"}]},
        {"intentions": [{"goal": "g", "depth": -1}]},
        {"step": -1},
        {"confidence": "high"},
    ],
)
def test_a_line_of_another_shape_is_rejected(fields: dict[str, Any]) -> None:
    """It is stored among the rejects, with the reason."""
    with pytest.raises(RejectedLineError):
        decode(json.dumps({"type": "bdi", **fields}).encode())


@pytest.mark.parametrize(
    ("reported", "change"),
    [
        (None, None),
        ("happy", None),
        ({}, None),
        ({"mood": "fine"}, None),
        ({"added": 7, "plan": "rest"}, BdiChange(plan="rest")),
        (
            {"added": ["a"], "intentions": [1], "confidence": 3},
            BdiChange(added=("a",), confidence=1),
        ),
        ({"added": ["a"], "confidence": float("nan")}, BdiChange(added=("a",))),
    ],
)
def test_valid_bdi_fields_of_a_step_are_used(reported: Any, change: BdiChange | None) -> None:
    """A step is stored whatever its `bdi` contains; invalid fields are skipped."""
    assert change_from_step(reported) == change


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*FIELDS, "x"]), inner),
        max_leaves=8,
    )
)
def test_any_bdi_field_decodes_with_its_step(reported: Any) -> None:
    """No value of `bdi` raises an error."""
    fields = {"episode_id": "e", "step": 0, "action": 0, "reward": 0}
    ended = {"terminated": False, "truncated": False}
    line = json.dumps({"type": "step", **fields, **ended, "bdi": reported}).encode()
    step = decode(line)
    assert isinstance(step, StepRecord)
    change_from_step(step.bdi)
    if b"NaN" not in line and b"Infinity" not in line:
        decode_head_fast(line)
