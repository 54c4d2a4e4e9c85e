"""From a line to a typed event, or to the reason why it is none.

The fast path is one call into msgspec. Everything odd (Python's bare `NaN`, unknown types, the
older artifact form, broken lines) takes the slow path, which decides once what a line is worth.
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
    Event,
    LegacyArtifacts,
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
    """A line that cannot be kept as an event."""

    def __init__(self, kind: RejectKind, reason: str) -> None:
        super().__init__(f"{kind}: {reason}")
        self.kind = kind
        self.reason = reason


class Decoded(NamedTuple):
    """An event and the line to store for it: as written, or as normalised."""

    event: AnyEvent
    line: bytes


_LONGEST_INTEGER = 4_000
_LONGEST_TYPE = 256
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


def _may_be_a_number(annotation: Any) -> bool:
    if annotation is Any or annotation is float:
        return True
    return any(_may_be_a_number(part) for part in get_args(annotation))


_NUMERIC_FIELDS = {
    event_type: tuple(
        field.name for field in msgspec.structs.fields(event_type) if _may_be_a_number(field.type)
    )
    for event_type in EVENT_TYPES
}
"""Where a non-finite word stands for a float; elsewhere (an id, a name) it is just a word."""

_STEP_DECODER = msgspec.json.Decoder(StepRecord)

decode_head_fast = _HEAD_DECODER.decode
"""Decode a UTF-8 line, steps only as far as storing needs. Raises what `FAST_ERRORS` names."""

FAST_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode(line: bytes) -> AnyEvent:
    """The event on `line`, with NaN and infinities as floats. Raises `RejectedLineError`."""
    try:
        event = _ANY_DECODER.decode(line)
    except FAST_ERRORS:
        return decode_slowly(line).event
    if numbers.may_hold_non_finite(line):
        _restore_fields(event)
    return event


def decode_head(line: bytes) -> AnyEvent:
    """Like `decode`, but a step only as far as storing needs. Numbers stay as on the wire."""
    try:
        return _HEAD_DECODER.decode(line)
    except FAST_ERRORS:
        return decode_slowly(line).event


def decode_step(line: bytes) -> StepRecord:
    """A stored step line in full. Raises `RejectedLineError` when it is no step."""
    try:
        step = _STEP_DECODER.decode(line)
    except FAST_ERRORS:
        event = decode_slowly(line).event
        if not isinstance(event, StepRecord):
            raise RejectedLineError(RejectKind.WRONG_TYPE, "not a step") from None
        return event
    if numbers.may_hold_non_finite(line):
        _restore_fields(step)
    return step


def decode_slowly(line: bytes) -> Decoded:
    """What the fast path could not take: an odd event with the line to keep, or the reason."""
    if len(line) > MAX_LINE_BYTES:
        raise RejectedLineError(RejectKind.TOO_LONG, f"{len(line)} bytes")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RejectedLineError(RejectKind.NOT_UTF8, str(error)) from None
    if nests_too_deeply(line):
        _refuse_nesting()
    document, line = _parse(text, line)
    if not isinstance(document, dict):
        raise RejectedLineError(RejectKind.NOT_AN_OBJECT, f"got {type(document).__name__}")
    if "type" not in document:
        return Decoded(_decode_untyped(document), line)
    kind = document["type"]
    if not isinstance(kind, str):
        raise RejectedLineError(RejectKind.WRONG_TYPE, "`type` must be a string")
    if kind not in _KNOWN_TAGS:
        if len(kind) > _LONGEST_TYPE:
            raise RejectedLineError(RejectKind.WRONG_TYPE, "`type` is too long")
        return Decoded(UnknownEvent(kind), line)
    return _decode_known(document, line)


def _decode_known(document: dict[str, Any], line: bytes) -> Decoded:
    try:
        event = _ANY_DECODER.decode(line)
    except msgspec.ValidationError as error:
        with_words = msgspec.json.encode(numbers.to_wire(document))
        try:
            event = _ANY_DECODER.decode(with_words)
        except msgspec.ValidationError:
            raise RejectedLineError(RejectKind.WRONG_TYPE, str(error)) from None
        line = with_words
    _restore_fields(event)
    return Decoded(event, line)


def nests_too_deeply(line: bytes) -> bool:
    """Whether reading the line again could exhaust the stack, wherever that is done."""
    if len(line) <= 2 * MAX_NESTING or line.count(b"[") + line.count(b"{") <= MAX_NESTING:
        return False
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_NESTING:
            return True
    return False


def _parse(text: str, line: bytes) -> tuple[Any, bytes]:
    """The JSON on the line, and the line itself, rewritten when only Python would read it."""
    try:
        return msgspec.json.decode(line), line
    except RecursionError:
        _refuse_nesting()
    except msgspec.DecodeError as error:
        strict_reason = str(error)
    try:
        document = json.loads(text, parse_int=_parse_int)
        return document, msgspec.json.encode(numbers.to_wire(document))
    except RecursionError:
        _refuse_nesting()
    except ValueError:
        raise RejectedLineError(RejectKind.NOT_JSON, strict_reason) from None


def _parse_int(digits: str) -> float:
    """Python refuses to read integers beyond a length; such a number is an infinity to everyone."""
    return int(digits) if len(digits) < _LONGEST_INTEGER else float(digits)


def _refuse_nesting() -> NoReturn:
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
