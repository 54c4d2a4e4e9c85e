"""Validation of JSON documents against the structs of this package.

msgspec stops at the first error and describes it in its own terms. Here the structs are walked
field by field and msgspec checks each leaf, so every problem of a document is reported at once.
Types, ranges and patterns are declared once, in the struct, and serve decoding, error messages and
the JSON Schema.
"""

import json
import pathlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import inspect

from mosaic.contract.json_value import INT64_MAX, INT64_MIN
from mosaic.contract.problems import (
    MAX_PROBLEMS,
    MakeDocumentError,
    Path,
    Problem,
    closest,
    render_path,
)
from mosaic.contract.regular_files import open_regular

EXPECTED = "expected"
"""Key in `msgspec.Meta(extra=…)` whose value describes, in English, what a pattern accepts."""

StructT = TypeVar("StructT", bound=msgspec.Struct)

_MAX_FIELDS_LISTED = 12
_MAX_CHOICES_LISTED = 30
_TYPE_TEXT = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
}


def read_document(path: pathlib.Path, error: MakeDocumentError, max_bytes: int) -> bytes:
    """Read at most `max_bytes` + 1 bytes, so that the caller can detect a file over the limit.

    Raises `error` with the path when the file cannot be read.
    """
    try:
        descriptor = open_regular(path, follow_links=True)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - opened by descriptor
            return file.read(max_bytes + 1)
    except OSError as cause:
        problem = Problem(
            (),
            "document",
            f"cannot be read: {cause.strerror}.",
            "Check that the file exists and is readable.",
        )
        raise error([problem], source=str(path)) from cause


def build(
    document: Any, into: type[StructT], error: MakeDocumentError, source: str = ""
) -> StructT:
    """Convert `document` to the struct `into`; raises `error` with every problem and `source`."""
    problems = check_all(document, into)
    if problems:
        raise error(problems, source=source)
    return msgspec.convert(document, into)


def check_all(document: Any, struct: type[msgspec.Struct]) -> list[Problem]:
    """Return the problems of a document, at most `MAX_PROBLEMS`."""
    return list(islice(check(document, struct), MAX_PROBLEMS))


def check(value: Any, annotation: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield every problem of the JSON `value` as a value of type `annotation`.

    Unknown fields are problems only in structs that forbid them.
    """
    bare, is_nullable = _unwrap(annotation)
    if value is None and is_nullable:
        return
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct) and isinstance(value, dict):
        yield from _check_fields(value, bare, path)
    elif get_origin(bare) is tuple and get_args(bare)[-1] is ... and isinstance(value, list):
        item = get_args(bare)[0]
        for index, element in enumerate(value):
            yield from check(element, item, (*path, index))
    elif get_origin(bare) is dict and isinstance(value, dict):
        item = get_args(bare)[1]
        for key, element in value.items():
            yield from check(element, item, (*path, key))
    else:
        yield from _check_leaf(value, annotation, path)


def unknown_field(name: str, known: Sequence[str], path: Path) -> Problem:
    """Return the problem of a field that is not one of the `known` ones."""
    suggestion = closest(name, known)
    if suggestion:
        remedy = f"Did you mean `{suggestion}`?"
    elif 0 < len(known) <= _MAX_FIELDS_LISTED:
        remedy = f"Remove it. Valid fields: {', '.join(f'`{name}`' for name in known)}."
    else:
        remedy = "Remove it, or correct its name."
    return Problem((*path, name), "unknown", "is not a known field.", remedy)


def describe_mismatch(value: Any, annotation: Any, path: Path) -> Problem:
    """Return the problem of a value that does not match `annotation`.

    The message never quotes text, which may be a secret.
    """
    kind = json_type(value)
    remedy = f"Expected {describe_type(annotation)}."
    if kind not in {name for member in _members(annotation) for name in _json_types(member.type)}:
        return Problem(path, "type", f"is {_describe_value(value)}.", remedy)
    if not isinstance(value, str):
        reason = "has the wrong shape" if kind == "array" else "is out of range"
        return Problem(path, "value", f"is {_describe_value(value)}, which {reason}.", remedy)
    suggestion = closest(value, _text_choices(annotation))
    hint = f'Did you mean "{suggestion}"? ' if suggestion else ""
    return Problem(path, "value", "has a text that is not allowed here.", hint + remedy)


def describe_type(annotation: Any) -> str:
    """Describe a type in English, such as "an integer of at least 1 or null"."""
    return " or ".join(_describe(member) for member in _members(annotation))


def json_type(value: Any) -> str:
    """Return the JSON Schema name of a value's type; integers are not `number`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"


def _unwrap(annotation: Any) -> tuple[Any, bool]:
    """Strip `Annotated` and `| None`; the flag says whether the annotation was optional."""
    if get_origin(annotation) is Annotated:
        return _unwrap(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        members = get_args(annotation)
        others = [member for member in members if member is not NoneType]
        if len(others) == 1:
            return _unwrap(others[0])[0], len(others) < len(members)
    return annotation, False


def _check_fields(
    value: dict[str, Any], struct: type[msgspec.Struct], path: Path
) -> Iterator[Problem]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    unknown = [name for name in value if name not in fields]
    if struct.__struct_config__.forbid_unknown_fields:
        for name in unknown:
            yield unknown_field(name, [*fields], path)
    for name, field in fields.items():
        if name in value:
            yield from check(value[name], field.type, (*path, name))
        elif field.required:
            yield _missing_field(name, field.type, unknown, path)


def _missing_field(name: str, annotation: Any, unknown: Sequence[str], path: Path) -> Problem:
    misspelt = closest(name, unknown[:MAX_PROBLEMS])
    remedy = f"Expected {describe_type(annotation)}."
    if misspelt is not None:
        remedy = f"Is `{render_path((misspelt,))}` a misspelling of it? {remedy}"
    return Problem((*path, name), "missing", "is missing.", remedy)


def _check_leaf(value: Any, annotation: Any, path: Path) -> Iterator[Problem]:
    try:
        msgspec.convert(value, annotation)
    except msgspec.ValidationError:
        yield describe_mismatch(value, annotation, path)


class _Member(NamedTuple):
    """One alternative of a field's type, and its description from `EXPECTED`, if any."""

    type: inspect.Type
    description: str | None


@cache
def _members(annotation: Any) -> tuple[_Member, ...]:
    return tuple(_walk_members(inspect.type_info(annotation), None))


def _walk_members(info: inspect.Type, description: str | None) -> Iterator[_Member]:
    if isinstance(info, inspect.Metadata):
        yield from _walk_members(info.type, (info.extra or {}).get(EXPECTED, description))
    elif isinstance(info, inspect.UnionType):
        for member in info.types:
            yield from _walk_members(member, description)
    else:
        yield _Member(info, description)


def _text_choices(annotation: Any) -> list[str]:
    literals = [m.type for m in _members(annotation) if isinstance(m.type, inspect.LiteralType)]
    return [choice for literal in literals for choice in literal.values if isinstance(choice, str)]


def _json_types(info: inspect.Type) -> tuple[str, ...]:
    if isinstance(info, inspect.FloatType):
        return ("integer", "number")
    if isinstance(info, inspect.LiteralType):
        return tuple(json_type(choice) for choice in info.values)
    return tuple(name for kind, name in _JSON_TYPES if isinstance(info, kind))


_JSON_TYPES: tuple[tuple[type[inspect.Type] | tuple[type[inspect.Type], ...], str], ...] = (
    (inspect.NoneType, "null"),
    (inspect.BoolType, "boolean"),
    (inspect.IntType, "integer"),
    (inspect.FloatType, "number"),
    (inspect.StrType, "string"),
    ((inspect.VarTupleType, inspect.TupleType, inspect.ListType), "array"),
    ((inspect.StructType, inspect.DictType), "object"),
)


def _describe_value(value: Any) -> str:
    kind = json_type(value)
    return json.dumps(value) if kind in ("boolean", "integer", "number") else _TYPE_TEXT[kind]


def _describe(member: _Member) -> str:
    info = member.type
    if member.description is not None:
        return member.description
    if isinstance(info, inspect.LiteralType):
        choices = [f'"{choice}"' for choice in info.values[:_MAX_CHOICES_LISTED]]
        more = " …" if len(info.values) > len(choices) else ""
        return f"one of {', '.join(choices)}{more}"
    if isinstance(info, inspect.IntType):
        return f"an integer{_describe_range(info)}"
    if isinstance(info, inspect.FloatType):
        return f"a number{_describe_range(info)}"
    if isinstance(info, inspect.StrType):
        return "text" + (f" of at most {info.max_length} characters" if info.max_length else "")
    return next(
        (_TYPE_TEXT[name] for kind, name in _JSON_TYPES if isinstance(info, kind)), "a value"
    )


def _describe_range(info: inspect.IntType | inspect.FloatType) -> str:
    # The limits of 64-bit storage are not worth mentioning.
    lowest = None if info.ge == INT64_MIN else info.ge
    highest = None if info.le == INT64_MAX else info.le
    if lowest is not None and highest is not None:
        return f" from {_simplify(lowest)} to {_simplify(highest)}"
    bounds = (
        (lowest, "of at least"),
        (info.gt, "greater than"),
        (highest, "of at most"),
        (info.lt, "less than"),
    )
    return "".join(f" {text} {_simplify(bound)}" for bound, text in bounds if bound is not None)


def _simplify(bound: float) -> float:
    """Write 1 rather than 1.0: `_members` caches by equality, and 1 == 1.0."""
    return int(bound) if bound == int(bound) else bound
