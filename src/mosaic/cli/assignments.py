"""NAME=VALUE options, converted to the type of a descriptor's parameter or read as JSON."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

from mosaic.contract.parameters import Parameter

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def parse_assignments(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return the values by name. Raises `click.UsageError` for a text without `=`."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option} must be NAME=VALUE, got '{text}'.")
        settings[name.strip()] = value
    return settings


def parse_value(text: str, parameter: Parameter) -> Any:
    """Convert `text` to the parameter's type; invalid text is left for validation to reject."""
    if parameter.type == "str":
        return text
    if parameter.default is None and text.lower() in ("", "none", "null"):
        return None
    if parameter.type == "choice":
        return next((choice for choice in parameter.choices if _matches(text, choice)), text)
    if parameter.type == "bool":
        return _as_bool(text)
    return _as_number(text, is_integer=parameter.type == "int")


def parse_parameters(settings: dict[str, str], parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Convert each setting to its parameter's type; unknown names keep their text."""
    by_name = {parameter.name: parameter for parameter in parameters}
    return {
        name: parse_value(text, by_name[name]) if name in by_name else text
        for name, text in settings.items()
    }


def parse_json_or_text(text: str) -> Any:
    """Decode `text` as JSON, or return it unchanged; for values without a known type."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _matches(text: str, choice: str | float | bool) -> bool:
    if isinstance(choice, bool):
        return _as_bool(text) is choice
    if isinstance(choice, str):
        return text == choice
    return _as_number(text, is_integer=isinstance(choice, int)) == choice


def _as_bool(text: str) -> bool | str:
    if text.lower() in _TRUE:
        return True
    return False if text.lower() in _FALSE else text


def _as_number(text: str, *, is_integer: bool) -> float | str:
    plain = text.replace("_", "")
    try:
        number = float(plain)
        if is_integer:
            # 1e6 is accepted as an integer, too.
            return int(plain) if plain.lstrip("+-").isdigit() else _to_integer(number)
    except (ValueError, OverflowError):
        return text
    return number


def _to_integer(number: float) -> float:
    return int(number) if number.is_integer() else number
