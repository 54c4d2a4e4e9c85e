"""Decodes lines into typed events, or rejects them with a reason.

The fast path is one call into msgspec. Everything unusual (Python's bare `NaN`, unknown types, the
older artifact format, malformed lines) takes the slow path, which normalises or rejects the line.
"""

import json
import re
from enum import StrEnum
from typing import Any, NamedTuple, NoReturn, Union, get_args

import msgspec

from mosaic.contract import numbers
from mosaic.contract.events import (
    EVENT_TYPES,
    MAX_LINE_BYTES,
    MAX_NESTING,
    TRUNCATED,
    EpisodeEnd,
    Event,
    LegacyArtifacts,
    StepColumns,
    StepHead,
    StepRecord,
    UnknownEvent,
    tag_of,
)

AnyEvent = Event | UnknownEvent | LegacyArtifacts


class RejectKind(StrEnum):
    """Why a line is not an event."""

    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    NO_TYPE = "no_type"
    WRONG_TYPE = "wrong_type"
    TOO_LONG = "too_long"
    ARTIFACT_PATH = "artifact_path"


class RejectedLineError(ValueError):
    """A line that cannot be stored as an event."""

    def __init__(self, kind: RejectKind, reason: str) -> None:
        super().__init__(f"{kind}: {reason}")
        self.kind = kind
        self.reason = reason


class Decoded(NamedTuple):
    """An event and the line to store for it: as written, or normalised."""

    event: AnyEvent
    line: bytes


_MAX_INTEGER_DIGITS = 4_000
_MAX_TYPE_LENGTH = 256
_STRING = re.compile(rb'"(?:[^"\\\\]|\\\\.)*"')
_BRACKET = re.compile(rb"[\[\]{}]")
_KNOWN_TAGS = frozenset(tag_of(event_type) for event_type in EVENT_TYPES)
_ANY_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(
    Union[EVENT_TYPES]  # noqa: UP007 - built at run time
)
_HEAD_TYPES = tuple(StepHead if kind is StepRecord else kind for kind in EVENT_TYPES)
_HEAD_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(
    Union[_HEAD_TYPES]  # noqa: UP007 - built at run time
)


def _may_be_number(annotation: Any) -> bool:
    if annotation is Any or annotation is float:
        return True
    return any(_may_be_number(option) for option in get_args(annotation))


_NUMERIC_FIELDS = {
    event_type: tuple(
        field.name for field in msgspec.structs.fields(event_type) if _may_be_number(field.type)
    )
    for event_type in EVENT_TYPES
}
"""Fields in which `"NaN"` and the like stand for a float; in an id or a name they are text."""


def _max_length(annotation: Any) -> int | None:
    """The length to which texts of this type are cut; None for other types."""
    for option in get_args(annotation):
        if isinstance(option, msgspec.Meta) and (option.extra or {}).get(TRUNCATED):
            return option.max_length
        if (length := _max_length(option)) is not None:
            return length
    return None


_TRUNCATED_FIELDS = {
    tag_of(event_type): {
        field.encode_name: length
        for field in msgspec.structs.fields(event_type)
        if (length := _max_length(field.type)) is not None
    }
    for event_type in EVENT_TYPES
}

_STEP_DECODER = msgspec.json.Decoder(StepRecord)

decode_head_fast = _HEAD_DECODER.decode
"""Decode a UTF-8 line, steps only as `StepHead`. Raises `FAST_ERRORS`."""

FAST_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode(line: bytes) -> AnyEvent:
    """Decode the event on `line`, with NaN and infinities as floats. Raises `RejectedLineError`."""
    try:
        event = _ANY_DECODER.decode(line)
    except FAST_ERRORS:
        return decode_slowly(line).event
    if numbers.may_hold_non_finite(line):
        _restore_fields(event)
    return event


def decode_head(line: bytes) -> AnyEvent:
    """Like `decode`, but steps only as `StepHead`, and numbers as on the wire."""
    try:
        return _HEAD_DECODER.decode(line)
    except FAST_ERRORS:
        return decode_slowly(line).event


def decode_step(line: bytes) -> StepRecord:
    """Decode a stored step line. Raises `RejectedLineError` for any other event."""
    try:
        step = _STEP_DECODER.decode(line)
    except FAST_ERRORS:
        event = decode_slowly(line).event
        if not isinstance(event, StepRecord):
            raise RejectedLineError(RejectKind.WRONG_TYPE, "expected a step") from None
        return event
    if numbers.may_hold_non_finite(line):
        _restore_fields(step)
    return step


def decode_steps(line: bytes, first: int = 0, last: int | None = None) -> list[StepRecord]:
    """Decode the steps on a stored line; of columns only the steps `first` to `last` (included)."""
    if line.startswith(b'{"type":"step",'):
        return [decode_step(line)]
    event = decode(line)
    if isinstance(event, StepRecord):
        return [event]
    if isinstance(event, StepColumns):
        return _expand_columns(event, event.actions, event.rewards, first, last)
    if isinstance(event, EpisodeEnd) and event.actions and event.rewards:
        steps = _expand_columns(event, event.actions, event.rewards, first, last)
        if steps and steps[-1].step + 1 == _columns_end(event, event.actions) == event.steps:
            steps[-1].terminated = bool(event.terminated)
            steps[-1].truncated = bool(event.truncated)
        return steps
    raise TypeError(f"expected a line with steps, got {type(event).__name__}")


def decode_slowly(line: bytes) -> Decoded:
    """Decode a line that the fast path rejected; returns the event and the line to store.

    Raises `RejectedLineError` with the reason. The line to store is within the limit too.
    """
    if len(line) > MAX_LINE_BYTES:
        raise RejectedLineError(RejectKind.TOO_LONG, f"{len(line)} bytes")
    decoded = _decode_any(line)
    require_storable(decoded.line)
    return decoded


def require_storable(line: bytes) -> None:
    """Raise `RejectedLineError` for a line that was rewritten and has become too long.

    Quoting a bare `NaN` or writing a number with all its digits makes a line longer. A reader may
    rely on the limit.
    """
    if len(line) > MAX_LINE_BYTES:
        raise RejectedLineError(
            RejectKind.TOO_LONG, f"{len(line)} bytes when written as standard JSON"
        )


def _decode_any(line: bytes) -> Decoded:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RejectedLineError(RejectKind.NOT_UTF8, str(error)) from None
    if nests_too_deeply(line):
        _reject_nesting()
    document, line = _parse(text, line)
    if not isinstance(document, dict):
        raise RejectedLineError(RejectKind.NOT_AN_OBJECT, f"got {type(document).__name__}")
    if "type" not in document:
        return Decoded(_decode_untyped(document), line)
    kind = document["type"]
    if not isinstance(kind, str):
        raise RejectedLineError(RejectKind.WRONG_TYPE, "`type` must be a string")
    if kind not in _KNOWN_TAGS:
        if len(kind) > _MAX_TYPE_LENGTH:
            raise RejectedLineError(RejectKind.WRONG_TYPE, "`type` is too long")
        return Decoded(UnknownEvent(kind), line)
    return _decode_known(document, line)


def _decode_known(document: dict[str, Any], line: bytes) -> Decoded:
    try:
        event = _ANY_DECODER.decode(line)
    except msgspec.ValidationError as error:
        normalised = msgspec.json.encode(_truncate_texts(numbers.to_wire(document)))
        try:
            event = _ANY_DECODER.decode(normalised)
        except msgspec.ValidationError:
            raise RejectedLineError(RejectKind.WRONG_TYPE, str(error)) from None
        line = normalised
    _restore_fields(event)
    return Decoded(event, line)


def _truncate_texts(document: dict[str, Any]) -> dict[str, Any]:
    """Cut texts for people that are too long: the rest of the line is worth keeping."""
    for name, length in _TRUNCATED_FIELDS[document["type"]].items():
        value = document.get(name)
        if isinstance(value, str) and len(value) > length:
            document[name] = value[: length - 1] + "…"
    return document


def nests_too_deeply(line: bytes) -> bool:
    """Return whether the line is nested deeply enough to exhaust the stack of a JSON reader."""
    if len(line) <= 2 * MAX_NESTING or line.count(b"[") + line.count(b"{") <= MAX_NESTING:
        return False
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_NESTING:
            return True
    return False


def _parse(text: str, line: bytes) -> tuple[Any, bytes]:
    """Parse the line; returns the line too, rewritten when only Python's `json` can read it."""
    try:
        return msgspec.json.decode(line), line
    except RecursionError:
        _reject_nesting()
    except msgspec.DecodeError as error:
        strict_reason = str(error)
    try:
        document = json.loads(text, parse_int=_parse_int)
        return document, msgspec.json.encode(numbers.to_wire(document))
    except RecursionError:
        _reject_nesting()
    except ValueError:
        raise RejectedLineError(RejectKind.NOT_JSON, strict_reason) from None


def _parse_int(digits: str) -> float:
    """Read integers that are too long for Python as floats, which makes them infinite."""
    return int(digits) if len(digits) < _MAX_INTEGER_DIGITS else float(digits)


def _reject_nesting() -> NoReturn:
    raise RejectedLineError(
        RejectKind.NOT_JSON, f"nested more than {MAX_NESTING} levels deep"
    ) from None


def _decode_untyped(document: dict[str, Any]) -> LegacyArtifacts:
    if document.get("event") == "artifacts":
        return msgspec.convert(document, LegacyArtifacts)
    raise RejectedLineError(RejectKind.NO_TYPE, "no `type`")


def _restore_fields(event: Event) -> None:
    for name in _NUMERIC_FIELDS[type(event)]:
        value = getattr(event, name)
        if isinstance(value, (str, list, dict)):
            setattr(event, name, numbers.restore(value))


def _columns_end(event: StepColumns | EpisodeEnd, actions: list[Any]) -> int:
    """Return the number after the last step of the columns."""
    return (event.first or 0) + len(actions)


def _expand_columns(
    event: StepColumns | EpisodeEnd,
    actions: list[Any],
    rewards: list[float],
    first: int,
    last: int | None,
) -> list[StepRecord]:
    start, end = event.first or 0, _columns_end(event, actions)
    return [
        StepRecord(
            agent_id=event.agent_id,
            episode_id=event.episode_id,
            step=step,
            action=actions[step - start],
            reward=numbers.as_float(rewards[step - start]),
            terminated=False,
            truncated=False,
        )
        for step in range(max(start, first), end if last is None else min(end, last + 1))
    ]
