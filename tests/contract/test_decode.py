"""Decoding of lines into events, and reasons for rejected lines."""

import contextlib
import json
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.decode import (
    FAST_ERRORS,
    RejectedLineError,
    decode,
    decode_head_fast,
    decode_step,
)
from mosaic.contract.events import (
    EVENT_TYPES,
    Metric,
    PolicyEvent,
    StepRecord,
    UnknownEvent,
    tag_of,
)

EXAMPLES: dict[str, object] = {
    "v": 1, "worker": "w", "run_id": "r", "algo": "a", "env_id": "e", "args": {}, "episode_id": "x",
    "step": 0, "action": 0, "reward": 0, "terminated": False, "truncated": False, "first": 0,
    "actions": [1], "rewards": [1], "steps": 1, "return": 1, "kind": "video", "t": 1, "done": 1,
    "total": 1, "unit": "steps", "level": "info", "code": "A1", "message": "m",
    "state": "running", "outcome": "succeeded",
}  # fmt: skip
NEEDED: dict[str, dict[str, object]] = {
    "metric": {"name": "m", "value": 1},
    "artifact": {"path": "a"},
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_a_step_round_trips() -> None:
    """Encoding a decoded step gives the same line."""
    line = (
        b'{"type":"step","episode_id":"a","step":3,"action":[0.5],"reward":1.5,'
        b'"terminated":true,"truncated":false,"obs":{"x":1},"actor":"you","seq":7,"agent_id":"red"}'
    )
    step = decode(line)
    assert isinstance(step, StepRecord)
    assert (step.reward, step.actor, step.agent_id, step.seq) == (1.5, "you", "red", 7)
    assert msgspec.json.encode(step) == line


def test_nan_stays_text_in_ids_and_names() -> None:
    """Ids and names are not converted to floats; values inside `info` are."""
    line = (
        b'{"type":"step","episode_id":"NaN","step":0,"action":0,"reward":"NaN",'
        b'"terminated":false,"truncated":false,"info":{"loss":["-Infinity"]},"actor":"Infinity"}'
    )
    step = decode_step(line)
    assert (step.episode_id, step.actor) == ("NaN", "Infinity")
    assert math.isnan(step.reward)
    assert step.info == {"loss": [-math.inf]}


def test_numbers_beyond_any_float_are_infinite() -> None:
    """A number that no float can hold does not reject the line."""
    metric = decode(b'{"type":"metric","name":"x","value":' + b"9" * 5_000 + b"}")
    assert isinstance(metric, Metric)
    assert metric.value == math.inf


@pytest.mark.parametrize("digits", [310, 400, 5_000])
def test_metrics_beyond_any_float_are_infinite_however_long(digits: int) -> None:
    """400 digits and 5,000 digits behave the same."""
    metric = decode(b'{"type":"metric","name":"x","value":-' + b"9" * digits + b"}")
    assert isinstance(metric, Metric)
    assert metric.value == -math.inf


def test_every_optional_field_may_be_null() -> None:
    """A worker may write null for an unknown value."""
    for event_type in EVENT_TYPES:
        document: dict[str, object] = {"type": tag_of(event_type)}
        for field in msgspec.structs.fields(event_type):
            document[field.encode_name] = EXAMPLES[field.encode_name] if field.required else None
        document |= NEEDED.get(tag_of(event_type), {})
        assert isinstance(decode(json.dumps(document).encode()), event_type)


def test_large_integers_stay_exact() -> None:
    """128-bit integers inside values are not converted to floats."""
    step = decode_step(
        b'{"type":"step","episode_id":"a","step":0,"action":%d,"reward":0,"terminated":false,'
        b'"truncated":false}' % (1 << 127)
    )
    assert step.action == 1 << 127


@given(json_values)
def test_any_json_is_an_event_or_is_rejected(value: object) -> None:
    """No other exception is raised."""
    with contextlib.suppress(RejectedLineError):
        decode(json.dumps(value).encode())


@given(st.binary())
def test_any_bytes_are_an_event_or_are_rejected(data: bytes) -> None:
    """No other exception is raised."""
    with contextlib.suppress(RejectedLineError):
        decode(data)


@given(
    st.fixed_dictionaries(
        {
            "type": st.just("step"),
            "episode_id": st.text(max_size=3),
            "step": st.integers(-1, 5) | json_values,
            "action": json_values,
            "reward": st.floats() | st.sampled_from(["NaN", "x"]) | json_values,
            "terminated": st.booleans() | json_values,
            "truncated": st.booleans(),
        },
        optional={"obs": json_values, "t": json_values, "actor": json_values, "seq": json_values},
    )
)
def test_a_stored_step_can_be_read(document: dict[str, object]) -> None:
    """A step whose head decodes also decodes in full."""
    line = json.dumps(document).encode()
    try:
        decode_head_fast(line)
    except FAST_ERRORS:
        return
    assert decode_step(line).step == document["step"]


@pytest.mark.parametrize(
    "value", [b"1e999", b"-1e999", b"9" * 5_000, b"1" * 400 + b".5", b"1e-999", b"1e309"]
)
def test_odd_numbers_in_unread_fields_do_not_make_a_stored_step_unreadable(value: bytes) -> None:
    """Ingest does not parse `obs`; any content can be read later."""
    line = (
        b'{"type":"step","episode_id":"a","step":0,"action":0,"reward":0,"terminated":false,'
        b'"truncated":false,"obs":' + value + b"}"
    )
    decode_head_fast(line)
    assert isinstance(decode_step(line).obs, float)


def test_an_unknown_type_is_stored() -> None:
    """Lines of a later version are events, too."""
    assert decode(b'{"type":"hologram"}') == UnknownEvent("hologram")


def test_tags_are_distinct() -> None:
    """No two events share a type."""
    assert len({tag_of(event) for event in EVENT_TYPES}) == len(EVENT_TYPES)


def test_a_policy_covers_every_state() -> None:
    """Actions with gaps and non-finite values round-trip; so does an empty policy."""
    policy = decode(b'{"type":"policy","actions":[1,null],"q_values":[[0,"NaN"],[1,2]],"step":3}')
    assert isinstance(policy, PolicyEvent)
    assert (policy.actions, policy.states, policy.step) == ([1, None], 2, 3)
    assert policy.q_values is not None
    assert math.isnan(policy.q_values[0][1])
    cleared = decode(b'{"type":"policy","actor":"human"}')
    assert isinstance(cleared, PolicyEvent)
    assert cleared.states == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"actions": []},
        {"actions": [0] * 10_001},
        {"actions": [0.5]},
        {"actions": [0, 1], "q_values": [[1.0]]},
        {"q_values": [[1.0], [1.0, 2.0]]},
        {"q_values": [[]]},
        {"q_values": [[0.0] * 65]},
    ],
)
def test_a_malformed_policy_is_rejected(fields: dict[str, object]) -> None:
    """Too many states or actions, or lists of different lengths."""
    with pytest.raises(RejectedLineError):
        decode(json.dumps({"type": "policy", **fields}).encode())
