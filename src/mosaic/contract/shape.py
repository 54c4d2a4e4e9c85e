"""Checking a JSON document against the structs of this package, finding every problem at once.

msgspec stops at the first error and names it in its own terms. Here the structs are walked field by
field and msgspec judges each leaf, so that types, ranges and patterns are declared in one place,
the struct, for reading, for the errors and for the JSON Schema alike.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec

from mosaic.contract.problems import (
    MOST_PROBLEMS,
    DocumentError,
    Path,
    Problem,
    closest,
    render_path,
)
from mosaic.contract.wording import expected, refusal

StructT = TypeVar("StructT", bound=msgspec.Struct)

_MOST_NAMES_LISTED = 12


def build(
    document: Any, into: type[StructT], error: type[DocumentError], source: str = ""
) -> StructT:
    """`document` as the struct `into`; raises `error` with every problem, naming `source`."""
    problems = check_all(document, into)
    if problems:
        raise error(problems, source=source)
    return msgspec.convert(document, into)


def check_all(document: Any, struct: type[msgspec.Struct]) -> list[Problem]:
    """The problems of a whole document, up to the number that is worth telling."""
    return list(islice(check(document, struct), MOST_PROBLEMS))


def check(value: Any, annotation: Any, path: Path = ()) -> Iterator[Problem]:
    """Every problem that the JSON `value` has as an `annotation`.

    Unknown fields are problems only in structs that forbid them.
    """
    bare, may_be_null = _unwrapped(annotation)
    if value is None and may_be_null:
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


def _unwrapped(annotation: Any) -> tuple[Any, bool]:
    """The annotation without `Annotated` and `| None`, and whether it had the latter."""
    if get_origin(annotation) is Annotated:
        return _unwrapped(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        members = get_args(annotation)
        others = [member for member in members if member is not NoneType]
        if len(others) == 1:
            return _unwrapped(others[0])[0], len(others) < len(members)
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
            yield _missing(name, field.type, unknown, path)


def unknown_field(name: str, known: Sequence[str], path: Path) -> Problem:
    """The problem of a field that is none of the `known` ones."""
    meant = closest(name, known)
    if meant:
        remedy = f"Did you mean `{meant}`?"
    elif 0 < len(known) <= _MOST_NAMES_LISTED:
        remedy = f"Remove it. The fields here are {', '.join(f'`{name}`' for name in known)}."
    else:
        remedy = "Remove it, or correct its name."
    return Problem((*path, name), "unknown", "is not a known field.", remedy)


def _missing(name: str, annotation: Any, unknown: Sequence[str], path: Path) -> Problem:
    misspelt = closest(name, unknown[:MOST_PROBLEMS])
    remedy = f"Give {expected(annotation)}."
    if misspelt is not None:
        remedy = f"Did you mean it by `{render_path((misspelt,))}`? {remedy}"
    return Problem((*path, name), "missing", "is missing.", remedy)


def _check_leaf(value: Any, annotation: Any, path: Path) -> Iterator[Problem]:
    try:
        msgspec.convert(value, annotation)
    except msgspec.ValidationError:
        yield refusal(value, annotation, path)
