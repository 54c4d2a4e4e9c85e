"""`name=value` as typed on a command line: typed by a descriptor's parameter, or read as JSON."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

from mosaic.contract.parameters import Parameter

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def split_settings(texts: Iterable[str], option: str) -> dict[str, str]:
    """`name=value` texts by name. Refuses one without `=`."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option} takes name=value, and got '{text}'.")
        settings[name.strip()] = value
    return settings


def as_parameter(text: str, parameter: Parameter) -> Any:
    """The value that `text` is for `parameter`; the text itself when it is none, to be refused."""
    if parameter.type == "str":
        return text
    if parameter.default is None and text.lower() in ("", "none", "null"):
        return None
    if parameter.type == "choice":
        return next((choice for choice in parameter.choices if _matches(text, choice)), text)
    if parameter.type == "bool":
        return _as_bool(text)
    return _as_number(text, whole=parameter.type == "int")


def typed_settings(settings: dict[str, str], parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Every setting as its parameter's type; of names that are no parameter the text."""
    by_name = {parameter.name: parameter for parameter in parameters}
    return {
        name: as_parameter(text, by_name[name]) if name in by_name else text
        for name, text in settings.items()
    }


def as_json_value(text: str) -> Any:
    """`text` as JSON where it is JSON, else as it is: for values that nobody has a type for."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _matches(text: str, choice: str | float | bool) -> bool:
    if isinstance(choice, bool):
        return _as_bool(text) is choice
    if isinstance(choice, str):
        return text == choice
    return _as_number(text, whole=isinstance(choice, int)) == choice


def _as_bool(text: str) -> bool | str:
    if text.lower() in _TRUE:
        return True
    return False if text.lower() in _FALSE else text


def _as_number(text: str, *, whole: bool) -> float | str:
    plain = text.replace("_", "")
    try:
        number = float(plain)
        if whole:
            # 1e6 is a whole number too, as people write them.
            return int(plain) if plain.lstrip("+-").isdigit() else _whole(number)
    except (ValueError, OverflowError):
        return text
    return number


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number
