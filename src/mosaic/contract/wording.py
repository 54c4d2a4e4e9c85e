"""Types in words: what a field expects, and what it was given instead."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from msgspec import inspect

from mosaic.contract.json_value import INT64_MAX
from mosaic.contract.problems import Path, Problem, closest

EXPECTED = "expected"
"""The key in `msgspec.Meta(extra=…)` that says in words what a pattern asks for."""

_WORDS = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
}
_MOST_CHOICES_LISTED = 30


class _Member(NamedTuple):
    """One alternative of a field's type, with the words its author chose for it."""

    type: inspect.Type
    words: str | None


def json_type(value: Any) -> str:
    """The JSON name of a value's type, whole numbers apart from others."""
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


def expected(annotation: Any) -> str:
    """What a value must be, such as "a whole number of at least 1 or null"."""
    return " or ".join(_describe(member) for member in _members(annotation))


def refusal(value: Any, annotation: Any, path: Path) -> Problem:
    """The problem of a value that is no `annotation`. Never shows text, which may be a secret."""
    kind = json_type(value)
    wanted = f"Give {expected(annotation)}."
    if kind not in {name for member in _members(annotation) for name in _json_types(member.type)}:
        return Problem(path, "type", f"is {_shown(value)}.", wanted)
    if not isinstance(value, str):
        fault = "does not fit" if kind == "array" else "is out of range"
        return Problem(path, "value", f"is {_shown(value)}, which {fault}.", wanted)
    meant = closest(value, _text_choices(annotation))
    hint = f'Did you mean "{meant}"? ' if meant else ""
    return Problem(path, "value", "is text that is not allowed here.", hint + wanted)


def _shown(value: Any) -> str:
    kind = json_type(value)
    return json.dumps(value) if kind in ("boolean", "integer", "number") else _WORDS[kind]


@cache
def _members(annotation: Any) -> tuple[_Member, ...]:
    return tuple(_walk_members(inspect.type_info(annotation), None))


def _walk_members(info: inspect.Type, words: str | None) -> Iterator[_Member]:
    if isinstance(info, inspect.Metadata):
        yield from _walk_members(info.type, (info.extra or {}).get(EXPECTED, words))
    elif isinstance(info, inspect.UnionType):
        for member in info.types:
            yield from _walk_members(member, words)
    else:
        yield _Member(info, words)


def _text_choices(annotation: Any) -> list[str]:
    literals = [m.type for m in _members(annotation) if isinstance(m.type, inspect.LiteralType)]
    return [choice for literal in literals for choice in literal.values if isinstance(choice, str)]


def _json_types(info: inspect.Type) -> tuple[str, ...]:
    if isinstance(info, inspect.FloatType):
        return ("integer", "number")
    if isinstance(info, inspect.LiteralType):
        return tuple(json_type(choice) for choice in info.values)
    return tuple(name for kind, name in _NAMES if isinstance(info, kind))


_NAMES: tuple[tuple[type[inspect.Type] | tuple[type[inspect.Type], ...], str], ...] = (
    (inspect.NoneType, "null"),
    (inspect.BoolType, "boolean"),
    (inspect.IntType, "integer"),
    (inspect.FloatType, "number"),
    (inspect.StrType, "string"),
    ((inspect.VarTupleType, inspect.TupleType, inspect.ListType), "array"),
    ((inspect.StructType, inspect.DictType), "object"),
)


def _describe(member: _Member) -> str:
    info = member.type
    if member.words is not None:
        return member.words
    if isinstance(info, inspect.LiteralType):
        choices = [f'"{choice}"' for choice in info.values[:_MOST_CHOICES_LISTED]]
        more = " …" if len(info.values) > len(choices) else ""
        return f"one of {', '.join(choices)}{more}"
    if isinstance(info, inspect.IntType):
        return f"a whole number{_range(info)}"
    if isinstance(info, inspect.FloatType):
        return f"a number{_range(info)}"
    if isinstance(info, inspect.StrType):
        return "text" + (f" of at most {info.max_length} characters" if info.max_length else "")
    return next((_WORDS[name] for kind, name in _NAMES if isinstance(info, kind)), "a value")


def _range(info: inspect.IntType | inspect.FloatType) -> str:
    # What merely fits the store goes without saying.
    highest = None if info.le == INT64_MAX else info.le
    if info.ge is not None and highest is not None:
        return f" from {_plain(info.ge)} to {_plain(highest)}"
    bounds = (
        (info.ge, "of at least"),
        (info.gt, "greater than"),
        (highest, "of at most"),
        (info.lt, "less than"),
    )
    return "".join(f" {words} {_plain(bound)}" for bound, words in bounds if bound is not None)


def _plain(bound: float) -> float:
    """1 rather than 1.0, whichever of the two equal types was looked at first."""
    return int(bound) if bound == int(bound) else bound
