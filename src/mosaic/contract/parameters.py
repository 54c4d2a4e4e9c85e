"""Typed parameters of algorithms and environments, and validation of their values."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import INT64_MAX, INT64_MIN
from mosaic.contract.problems import Path, Problem, closest
from mosaic.contract.text_types import LongText, Name, ShortText
from mosaic.contract.validation import EXPECTED, check, unknown_field

ParameterType = Literal["int", "float", "bool", "str", "choice"]
Range = Annotated[
    tuple[float | int, float | int], Meta(extra={EXPECTED: "two numbers, the lower one first"})
]


class Parameter(msgspec.Struct, kw_only=True, frozen=True):
    """One typed setting of an algorithm."""

    name: Name
    type: ParameterType
    default: Annotated[Any, Meta(description="null: not set by default.")] = None
    min: float | int | None = None
    max: float | int | None = None
    choices: Annotated[
        tuple[ShortText | int | float | bool, ...],
        Meta(description="Valid values of type `choice`."),
    ] = ()
    unit: ShortText = ""
    group: ShortText = ""
    help: LongText = ""
    label: Annotated[
        ShortText, Meta(description="Label in forms; empty: derived from the name.")
    ] = ""
    search: Annotated[
        Range | None,
        Meta(description="Range that a sweep searches; null: not searched by default."),
    ] = None
    log: Annotated[bool, Meta(description="Whether a sweep samples on a log scale.")] = False


def check_value(value: Any, parameter: Parameter, path: Path) -> Iterator[Problem]:
    """Yield every problem of `value` as a value of `parameter`."""
    if value is None and parameter.default is None:
        return
    if parameter.type == "choice":
        yield from _check_choice(value, parameter.choices, path)
    else:
        yield from check(value, _annotation(parameter), path)


def check_values(
    values: Mapping[str, Any], parameters: Sequence[Parameter], path: Path
) -> Iterator[Problem]:
    """Yield every problem of a set of values, including names of unknown parameters."""
    by_name = {parameter.name: parameter for parameter in parameters}
    for name, value in values.items():
        if name in by_name:
            yield from check_value(value, by_name[name], (*path, name))
        else:
            yield unknown_field(name, [*by_name], path)


def check_parameter(parameter: Parameter, path: Path) -> Iterator[Problem]:
    """Yield the problems of a parameter's own definition."""
    if parameter.type == "choice" and not parameter.choices:
        yield Problem((*path, "choices"), "missing", "is empty.", "List the valid values.")
    elif parameter.min is not None and parameter.max is not None and parameter.min > parameter.max:
        yield Problem((*path, "min"), "value", "is greater than `max`.", "Swap the two.")
    else:
        yield from check_value(parameter.default, parameter, (*path, "default"))
        yield from _check_search(parameter, path)


def _check_search(parameter: Parameter, path: Path) -> Iterator[Problem]:
    """Yield the problems of the fields that sweeps use."""
    if parameter.type not in ("int", "float"):
        for field in ("search", "log"):
            if getattr(parameter, field):
                yield Problem((*path, field), "value", "is only valid for numbers.", "Remove it.")
        return
    if parameter.search is None:
        return
    low, high = parameter.search
    if low >= high:
        message = "must have its lower value first."
        yield Problem((*path, "search"), "value", message, "Swap the two values.")
    elif parameter.log and low <= 0:
        message = "must be positive for a log scale."
        yield Problem((*path, "search", 0), "value", message, "Use a value above 0.")
    for index, bound in enumerate(parameter.search):
        yield from check_value(bound, parameter, (*path, "search", index))


def _check_choice(value: Any, choices: Sequence[Any], path: Path) -> Iterator[Problem]:
    if any(_same_json(value, choice) for choice in choices):
        return
    texts = [choice for choice in choices if isinstance(choice, str)]
    suggestion = closest(value, texts) if isinstance(value, str) else None
    hint = f'Did you mean "{suggestion}"? ' if suggestion else ""
    listing = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    yield Problem(path, "value", "is not one of the choices.", f"{hint}Expected one of {listing}.")


def _same_json(one: Any, other: Any) -> bool:
    """Compare as JSON, where true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _annotation(parameter: Parameter) -> Any:
    low, high = parameter.min, parameter.max
    match parameter.type:
        case "int":
            lowest = INT64_MIN if low is None else max(INT64_MIN, math.ceil(low))
            highest = INT64_MAX if high is None else min(INT64_MAX, math.floor(high))
            return Annotated[int, Meta(ge=lowest, le=highest)]
        case "float":
            return Annotated[float, Meta(ge=low, le=high)]
        case "bool":
            return bool
        case _:
            return str
