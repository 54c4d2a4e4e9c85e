"""Search spaces: a numeric or categorical distribution for each searched parameter.

Created by the command line and the window, stored in the sweep's configuration, and read by the
sweep worker. The names follow Optuna's distributions.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.client.former_names import resolve_former_names
from mosaic.contract.descriptor import Algorithm
from mosaic.contract.errors import UserError
from mosaic.contract.parameters import Parameter, check_value
from mosaic.contract.problems import closest


class SearchSpaceError(UserError):
    """A search space is invalid."""

    default_code = "C230"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


class NumericRange(msgspec.Struct, kw_only=True, frozen=True, tag_field="kind", tag="range"):
    """Numbers from `low` to `high`, both included: Optuna's float and int distributions."""

    low: float | int
    high: float | int
    log: bool = False
    """Sample on a logarithmic scale."""
    step: float | int | None = None
    """Only `low` plus multiples of this step."""
    integer: bool = msgspec.field(default=False, name="whole")
    """Integers only. Stored as `whole` in configurations of sweeps."""


class CategoricalChoices(
    msgspec.Struct, kw_only=True, frozen=True, tag_field="kind", tag="choices"
):
    """One of the listed values."""

    choices: tuple[str | int | float | bool | None, ...]


SearchDistribution = NumericRange | CategoricalChoices
SearchSpace = Mapping[str, SearchDistribution]


def default_distribution(parameter: Parameter) -> SearchDistribution | None:
    """Return the distribution that the worker suggests; None if it suggests none."""
    if parameter.search is not None:
        low, high = parameter.search
        return NumericRange(low=low, high=high, log=parameter.log, integer=parameter.type == "int")
    if parameter.type == "bool":
        return CategoricalChoices(choices=(False, True))
    if parameter.type == "choice":
        return CategoricalChoices(choices=parameter.choices)
    return None


def default_search_space(algorithm: Algorithm) -> dict[str, SearchDistribution]:
    """Return the distributions of all parameters for which the worker suggests a range."""
    return {
        parameter.name: values
        for parameter in algorithm.parameters
        if parameter.search is not None and (values := default_distribution(parameter)) is not None
    }


def find_parameter(name: str, parameters: Sequence[Parameter]) -> Parameter:
    """Return the parameter with that name; raise `SearchSpaceError` if there is none."""
    for parameter in parameters:
        if parameter.name == name:
            return parameter
    names = [parameter.name for parameter in parameters]
    suggestion = closest(name, names)
    raise SearchSpaceError(
        f"The algorithm has no parameter '{name[:100]}'.",
        remedy=f"Did you mean {suggestion}?"
        if suggestion
        else f"Available parameters: {', '.join(names) or 'none'}.",
    )


def validate_distribution(
    name: str, values: SearchDistribution, parameter: Parameter
) -> SearchDistribution:
    """Return the normalised distribution; raise `SearchSpaceError` if `parameter` rejects it."""
    if isinstance(values, CategoricalChoices):
        if not values.choices:
            raise SearchSpaceError(
                f"{name} has no values to search.", remedy="List at least one value."
            )
        for value in values.choices:
            _check_allowed(name, value, parameter)
        return values
    return _validate_range(name, values, parameter)


def _validate_range(name: str, values: NumericRange, parameter: Parameter) -> NumericRange:
    low, high = values.low, values.high
    if parameter.type not in ("int", "float"):
        raise SearchSpaceError(
            f"{name} is not numeric and cannot be searched from {low} to {high}.",
            remedy=f"List the values to search: {name}=a,b,c.",
        )
    integer = parameter.type == "int"
    if integer and not (_is_integer(low) and _is_integer(high) and _is_integer(values.step or 1)):
        raise SearchSpaceError(
            f"{name} must be an integer, got the range {low} to {high}.",
            remedy="Use integers for both bounds and the step.",
        )
    if integer:
        low, high = int(low), int(high)
    if not low < high:
        raise SearchSpaceError(
            f"The range of {name}, {low} to {high}, is empty.",
            remedy="Put the lower value first, or fix the value with --set.",
        )
    if values.log and low <= 0:
        raise SearchSpaceError(
            f"A logarithmic range of {name} must start above 0, got {low}.",
            remedy="Start above 0, or remove `log`.",
        )
    if values.step is not None and (values.log or values.step <= 0):
        raise SearchSpaceError(
            f"The step of {name} must be above 0 and without `log`, got {values.step}.",
            remedy="Use a positive step, and remove `log` or `step`.",
        )
    _check_allowed(name, low, parameter)
    _check_allowed(name, high, parameter)
    step = int(values.step) if integer and values.step is not None else values.step
    return NumericRange(low=low, high=high, log=values.log, step=step, integer=integer)


def _check_allowed(name: str, value: Any, parameter: Parameter) -> None:
    for problem in check_value(value, parameter, (name,)):
        raise SearchSpaceError(
            f"{value!r} is not allowed: {problem.sentence}", remedy=problem.remedy
        )


def _is_integer(number: float) -> bool:
    return float(number).is_integer()


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)
