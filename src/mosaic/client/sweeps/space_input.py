"""Parses search spaces from the command line and from TOML or JSON files.

    learning_rate=1e-5..1e-2:log     a logarithmic range
    num_envs=4,8,16                  a list of values
    ent_coef                         the range that the worker suggests

A file may contain the same texts, lists, and tables with `low`, `high`, `log` and `step`.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.client.former_names import resolve_former_names
from mosaic.client.sweeps.search_space import (
    CategoricalChoices,
    NumericRange,
    SearchDistribution,
    SearchSpaceError,
    default_distribution,
    find_parameter,
    validate_distribution,
)
from mosaic.contract.parameters import Parameter

_RANGE = re.compile(r"(?P<low>[^,]+?)\.\.(?P<high>[^,:]+)(?P<log>:log)?")
_SYNTAX = "Write name=low..high, name=low..high:log or name=a,b,c."
_MAX_FILE_BYTES = 1 << 20


def parse_search_options(
    texts: Iterable[str], parameters: Sequence[Parameter]
) -> dict[str, SearchDistribution]:
    """Parse `name=…` texts into distributions by parameter name."""
    space = {}
    for text in texts:
        name, equals, values = (field.strip() for field in text.partition("="))
        parameter = find_parameter(name, parameters)
        if not equals:
            space[name] = _require_default(parameter)
        else:
            space[name] = validate_distribution(
                name, _parse_text(name, values, parameter), parameter
            )
    return space


def read_search_space_file(
    path: Path, parameters: Sequence[Parameter]
) -> dict[str, SearchDistribution]:
    """Read a TOML or JSON file into distributions by parameter name."""
    space = {}
    for name, given in _read_document(path).items():
        parameter = find_parameter(name, parameters)
        space[name] = validate_distribution(name, _parse_value(name, given, parameter), parameter)
    if not space:
        raise SearchSpaceError(f"{path} contains no parameters.", remedy=_SYNTAX)
    return space


def _require_default(parameter: Parameter) -> SearchDistribution:
    values = default_distribution(parameter)
    if values is None:
        raise SearchSpaceError(
            f"The worker suggests no search range for {parameter.name}.",
            remedy=f"Pass one: --search {parameter.name}=low..high.",
        )
    return values


def _parse_text(name: str, text: str, parameter: Parameter) -> SearchDistribution:
    match = _RANGE.fullmatch(text)
    if match:
        return NumericRange(
            low=_parse_number(name, match["low"]),
            high=_parse_number(name, match["high"]),
            log=match["log"] is not None,
        )
    if not text or text.endswith(":log"):
        raise SearchSpaceError(
            f"'{name}={text[:100]}' contains no values to search.", remedy=_SYNTAX
        )
    return CategoricalChoices(
        choices=tuple(_parse_choice(value.strip(), parameter) for value in text.split(","))
    )


def _parse_value(name: str, given: Any, parameter: Parameter) -> SearchDistribution:
    match given:
        case str():
            return _parse_text(name, given, parameter)
        case list():
            return CategoricalChoices(choices=tuple(given))
        case {"low": low, "high": high, **others} if others.keys() <= {"log", "step"}:
            fields = {"kind": "range", "low": low, "high": high, **others}
        case {"choices": list(), **others} if not others:
            fields = {"kind": "choices", **given}
        case _:
            raise SearchSpaceError(
                f"The distribution of {name} is invalid.",
                remedy="Use a list of values, or a table with low, high and optional log or step.",
            )
    try:
        values: SearchDistribution = msgspec.convert(fields, SearchDistribution)
    except msgspec.ValidationError as error:
        raise SearchSpaceError(
            f"The distribution of {name} is invalid: {error}.", remedy=_SYNTAX
        ) from error
    return values


def _read_document(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_FILE_BYTES)
        is_json = path.suffix.lower() == ".json"
        document = msgspec.json.decode(text) if is_json else tomllib.loads(text.decode())
    except (OSError, ValueError) as error:
        raise SearchSpaceError(
            f"{path} cannot be read as a search space: {error}.",
            remedy="Use a TOML file, or a JSON file with the suffix .json.",
        ) from error
    if not isinstance(document, dict):
        raise SearchSpaceError(
            f"{path} is not a search space.",
            remedy='The file must contain an object such as {"name": [values], …}.',
        )
    return document


def _parse_number(name: str, text: str) -> float | int:
    plain = text.strip().replace("_", "")
    try:
        number = float(plain)
    except ValueError:
        raise SearchSpaceError(
            f"'{text[:100]}' in the range of {name} is not a number.", remedy=_SYNTAX
        ) from None
    return int(plain) if plain.lstrip("+-").isdigit() else number


def _parse_choice(text: str, parameter: Parameter) -> str | int | float | bool | None:
    """Convert a value to the parameter's type; return invalid text as is, to be rejected later."""
    if parameter.type in ("str", "choice"):
        for choice in parameter.choices:
            if str(choice) == text:
                return choice
        return text
    if parameter.type == "bool":
        return {"true": True, "false": False}.get(text.lower(), text)
    plain = text.replace("_", "")
    try:
        number = float(plain)
    except ValueError:
        return None if parameter.default is None and text.lower() in ("none", "null") else text
    return int(number) if parameter.type == "int" and number.is_integer() else number


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)
