"""A search space as people write it: on the command line, or in a TOML or JSON file.

    learning_rate=1e-5..1e-2:log     a range, by order of magnitude
    num_envs=4,8,16                  a few values
    ent_coef                         the range that the worker names

In a file the same texts may stand, and lists and tables with `low`, `high`, `log` and `step`.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mosaic.client.sweeps.search_space import (
    SearchChoices,
    Searched,
    SearchRange,
    SearchSpaceError,
    checked,
    described_values,
    find_parameter,
)
from mosaic.contract.parameters import Parameter

_RANGE = re.compile(r"(?P<low>[^,]+?)\.\.(?P<high>[^,:]+)(?P<log>:log)?")
_FORM = "Write name=low..high, name=low..high:log or name=a,b,c."
_LARGEST_FILE = 1 << 20


def read_searches(texts: Iterable[str], parameters: Sequence[Parameter]) -> dict[str, Searched]:
    """The values of `name=…` texts, by name."""
    space = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        parameter = find_parameter(name, parameters)
        if not equals:
            space[name] = _described(parameter)
        else:
            space[name] = checked(name, _from_text(name, values, parameter), parameter)
    return space


def read_space_file(path: Path, parameters: Sequence[Parameter]) -> dict[str, Searched]:
    """The values in a TOML or JSON file, by name."""
    space = {}
    for name, given in _read_document(path).items():
        parameter = find_parameter(name, parameters)
        space[name] = checked(name, _from_document(name, given, parameter), parameter)
    if not space:
        raise SearchSpaceError(f"{path} names no parameter.", remedy=_FORM)
    return space


def _described(parameter: Parameter) -> Searched:
    values = described_values(parameter)
    if values is None:
        raise SearchSpaceError(
            f"The worker does not say which values of {parameter.name} are worth trying.",
            remedy=f"Say it: --search {parameter.name}=low..high.",
        )
    return values


def _from_text(name: str, text: str, parameter: Parameter) -> Searched:
    found = _RANGE.fullmatch(text)
    if found:
        return SearchRange(
            low=_number(name, found["low"]),
            high=_number(name, found["high"]),
            log=found["log"] is not None,
        )
    if not text or text.endswith(":log"):
        raise SearchSpaceError(f"'{name}={text[:100]}' names no values to try.", remedy=_FORM)
    return SearchChoices(choices=tuple(_value(part.strip(), parameter) for part in text.split(",")))


def _from_document(name: str, given: Any, parameter: Parameter) -> Searched:
    match given:
        case str():
            return _from_text(name, given, parameter)
        case list():
            return SearchChoices(choices=tuple(given))
        case {"low": low, "high": high, **others} if others.keys() <= {"log", "step"}:
            fields = {"kind": "range", "low": low, "high": high, **others}
        case {"choices": list(), **others} if not others:
            fields = {"kind": "choices", **given}
        case _:
            raise SearchSpaceError(
                f"What {name} is to be cannot be read.",
                remedy="Give a list of values, or a table with low, high and perhaps log or step.",
            )
    try:
        values: Searched = msgspec.convert(fields, Searched)
    except msgspec.ValidationError as error:
        raise SearchSpaceError(f"The values of {name}: {error}.", remedy=_FORM) from error
    return values


def _read_document(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST_FILE)
        is_json = path.suffix.lower() == ".json"
        document = msgspec.json.decode(text) if is_json else tomllib.loads(text.decode())
    except (OSError, ValueError) as error:
        raise SearchSpaceError(
            f"{path} cannot be read as a search space: {error}.",
            remedy="Give a TOML file, or a JSON file whose name ends in .json.",
        ) from error
    if not isinstance(document, dict):
        raise SearchSpaceError(
            f"{path} is no search space.", remedy='Write {"name": [values], …} into it.'
        )
    return document


def _number(name: str, text: str) -> float | int:
    plain = text.strip().replace("_", "")
    try:
        number = float(plain)
    except ValueError:
        raise SearchSpaceError(
            f"'{text[:100]}' in the range of {name} is no number.", remedy=_FORM
        ) from None
    return int(plain) if plain.lstrip("+-").isdigit() else number


def _value(text: str, parameter: Parameter) -> str | int | float | bool | None:
    """A value as the parameter's type; the text itself where it is none, to be refused."""
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
