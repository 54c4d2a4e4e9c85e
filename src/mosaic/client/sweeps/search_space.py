"""The values that a sweep tries: a range or a few choices for each parameter.

Made by the command line and the window, kept in the sweep's configuration, and read by the sweep
worker.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mosaic.contract.descriptor import Algorithm
from mosaic.contract.errors import UserError
from mosaic.contract.parameters import Parameter, check_value
from mosaic.contract.problems import closest


class SearchSpaceError(UserError):
    """The values to try make no sense."""

    default_code = "C230"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


class SearchRange(msgspec.Struct, kw_only=True, frozen=True, tag_field="kind", tag="range"):
    """Every number from `low` to `high`, both included."""

    low: float | int
    high: float | int
    log: bool = False
    """By order of magnitude: as many values below the (geometric) middle as above it."""
    step: float | int | None = None
    """Only values that are whole steps above `low`."""
    whole: bool = False
    """Whole numbers only."""


class SearchChoices(msgspec.Struct, kw_only=True, frozen=True, tag_field="kind", tag="choices"):
    """One of these."""

    choices: tuple[str | int | float | bool | None, ...]


Searched = SearchRange | SearchChoices
SearchSpace = Mapping[str, Searched]


def described_values(parameter: Parameter) -> Searched | None:
    """What the worker itself holds to be worth trying; None when it says nothing of it."""
    if parameter.search is not None:
        low, high = parameter.search
        return SearchRange(low=low, high=high, log=parameter.log, whole=parameter.type == "int")
    if parameter.type == "bool":
        return SearchChoices(choices=(False, True))
    if parameter.type == "choice":
        return SearchChoices(choices=parameter.choices)
    return None


def described_space(algorithm: Algorithm) -> dict[str, Searched]:
    """All parameters for which the worker names a range to search."""
    return {
        parameter.name: values
        for parameter in algorithm.parameters
        if parameter.search is not None and (values := described_values(parameter)) is not None
    }


def find_parameter(name: str, parameters: Sequence[Parameter]) -> Parameter:
    """The parameter of that name; `SearchSpaceError` when there is none."""
    for parameter in parameters:
        if parameter.name == name:
            return parameter
    names = [parameter.name for parameter in parameters]
    meant = closest(name, names)
    raise SearchSpaceError(
        f"The algorithm has no parameter '{name[:100]}'.",
        remedy=f"Did you mean {meant}?" if meant else f"It has {', '.join(names) or 'none'}.",
    )


def checked(name: str, values: Searched, parameter: Parameter) -> Searched:
    """`values` as those of `parameter`; `SearchSpaceError` when it cannot have them."""
    if isinstance(values, SearchChoices):
        if not values.choices:
            raise SearchSpaceError(f"{name} has no values to try.", remedy="Name at least one.")
        for value in values.choices:
            _expect_allowed(name, value, parameter)
        return values
    return _checked_range(name, values, parameter)


def _checked_range(name: str, values: SearchRange, parameter: Parameter) -> SearchRange:
    low, high = values.low, values.high
    if parameter.type not in ("int", "float"):
        raise SearchSpaceError(
            f"{name} is no number, and cannot be searched from {low} to {high}.",
            remedy=f"List the values to try: {name}=a,b,c.",
        )
    whole = parameter.type == "int"
    if whole and not (_is_whole(low) and _is_whole(high) and _is_whole(values.step or 1)):
        raise SearchSpaceError(
            f"{name} takes whole numbers, and is to be searched from {low} to {high}.",
            remedy="Give whole numbers.",
        )
    if whole:
        low, high = int(low), int(high)
    if not low < high:
        raise SearchSpaceError(
            f"{name} is to be searched from {low} to {high}, which is no range.",
            remedy="Give the lower value first, or fix it with --set.",
        )
    if values.log and low <= 0:
        raise SearchSpaceError(
            f"{name} cannot be searched by order of magnitude from {low} on.",
            remedy="Begin above 0, or leave `log` out.",
        )
    if values.step is not None and (values.log or values.step <= 0):
        raise SearchSpaceError(
            f"The step {values.step} of {name} will not do.",
            remedy="A step is above 0, and goes without `log`.",
        )
    _expect_allowed(name, low, parameter)
    _expect_allowed(name, high, parameter)
    step = int(values.step) if whole and values.step is not None else values.step
    return SearchRange(low=low, high=high, log=values.log, step=step, whole=whole)


def _expect_allowed(name: str, value: Any, parameter: Parameter) -> None:
    for problem in check_value(value, parameter, (name,)):
        raise SearchSpaceError(
            f"{value!r} cannot be tried: {problem.sentence}", remedy=problem.remedy
        )


def _is_whole(number: float) -> bool:
    return float(number).is_integer()
