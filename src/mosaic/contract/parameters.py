"""The typed parameters of an algorithm, and whether a value is one that they accept."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import INT64_MAX, INT64_MIN
from mosaic.contract.problems import Path, Problem, closest
from mosaic.contract.shape import check, unknown_field
from mosaic.contract.text_types import Name
from mosaic.contract.wording import EXPECTED

ParameterType = Literal["int", "float", "bool", "str", "choice"]
Range = Annotated[
    tuple[float | int, float | int], Meta(extra={EXPECTED: "two numbers, the lower one first"})
]


class Parameter(msgspec.Struct, kw_only=True, frozen=True):
    """One typed setting of an algorithm."""

    name: Name
    type: ParameterType
    default: Annotated[Any, Meta(description="null: not set unless a person sets it.")] = None
    min: float | int | None = None
    max: float | int | None = None
    choices: Annotated[tuple[str | int | float | bool, ...], Meta(description="Of a choice.")] = ()
    unit: str = ""
    group: str = ""
    help: str = ""
    label: Annotated[str, Meta(description="What a form calls it; empty: made of its name.")] = ""
    search: Annotated[
        Range | None,
        Meta(description="Lowest and highest value that a sweep tries; null: not by itself."),
    ] = None
    log: Annotated[bool, Meta(description="Whether a sweep tries them by order of magnitude.")] = (
        False
    )


def check_value(value: Any, parameter: Parameter, path: Path) -> Iterator[Problem]:
    """Every problem of `value` as a value of `parameter`."""
    if value is None and parameter.default is None:
        return
    if parameter.type == "choice":
        yield from _check_choice(value, parameter.choices, path)
    else:
        yield from check(value, _annotation(parameter), path)


def check_values(
    values: Mapping[str, Any], parameters: Sequence[Parameter], path: Path
) -> Iterator[Problem]:
    """Every problem of a set of values, names that are no parameter included."""
    by_name = {parameter.name: parameter for parameter in parameters}
    for name, value in values.items():
        if name in by_name:
            yield from check_value(value, by_name[name], (*path, name))
        else:
            yield unknown_field(name, [*by_name], path)


def check_parameter(parameter: Parameter, path: Path) -> Iterator[Problem]:
    """Whether a parameter makes sense in itself."""
    if parameter.type == "choice" and not parameter.choices:
        yield Problem((*path, "choices"), "missing", "is empty.", "List what can be chosen.")
    elif parameter.min is not None and parameter.max is not None and parameter.min > parameter.max:
        yield Problem((*path, "min"), "value", "is greater than `max`.", "Exchange the two.")
    else:
        yield from check_value(parameter.default, parameter, (*path, "default"))
        yield from _check_search(parameter, path)


def _check_search(parameter: Parameter, path: Path) -> Iterator[Problem]:
    """Whether a sweep could use what the parameter says of its values."""
    if parameter.type not in ("int", "float"):
        for field in ("search", "log"):
            if getattr(parameter, field):
                yield Problem((*path, field), "value", "belongs to numbers.", "Leave it out.")
        return
    if parameter.search is None:
        return
    low, high = parameter.search
    if low >= high:
        message = "does not go from low to high."
        yield Problem((*path, "search"), "value", message, "Give the lower value first.")
    elif parameter.log and low <= 0:
        message = "has no order of magnitude."
        yield Problem((*path, "search", 0), "value", message, "Begin above 0.")
    for index, bound in enumerate(parameter.search):
        yield from check_value(bound, parameter, (*path, "search", index))


def _check_choice(value: Any, choices: Sequence[Any], path: Path) -> Iterator[Problem]:
    if any(_same_json(value, choice) for choice in choices):
        return
    texts = [choice for choice in choices if isinstance(choice, str)]
    meant = closest(value, texts) if isinstance(value, str) else None
    hint = f'Did you mean "{meant}"? ' if meant else ""
    listing = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    yield Problem(path, "value", "is not one of the choices.", f"{hint}Give one of {listing}.")


def _same_json(one: Any, other: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _annotation(parameter: Parameter) -> Any:
    low, high = parameter.min, parameter.max
    match parameter.type:
        case "int":
            least = INT64_MIN if low is None else max(INT64_MIN, math.ceil(low))
            most = INT64_MAX if high is None else min(INT64_MAX, math.floor(high))
            return Annotated[int, Meta(ge=least, le=most)]
        case "float":
            return Annotated[float, Meta(ge=low, le=high)]
        case "bool":
            return bool
        case _:
            return str
