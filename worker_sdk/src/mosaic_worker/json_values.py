"""Converts any Python value to JSON values, without importing the library that it comes from.

The encoders call this only for lines that they cannot encode themselves.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 100
_MAX_REPR_CHARS = 1000
_SEQUENCES = (list, tuple, set, frozenset, range)
_CONVERTED_BY_STR = frozenset({"UUID", "Decimal"})  # by name: importing both costs milliseconds


class JsonConverter:
    """Converts values; `unserializable` lists those of which only the repr() is kept."""

    def __init__(self) -> None:
        self.unserializable: list[str] = []

    def convert(self, field: str, value: Any, depth: int = 0) -> Any:
        """`value` as None, bool, int, finite float, str, list or dict with str keys."""
        kind = type(value)
        if value is None or kind is bool or kind is int:
            return value
        if kind is float:
            return encode_float(value)
        if kind is str:
            return _valid_text(value)
        if depth >= MAX_DEPTH:
            return self._convert_to_repr(field, value)
        if isinstance(value, Mapping):
            return {
                self._convert_key(field, key): self.convert(field, item, depth + 1)
                for key, item in list(value.items())
            }
        if isinstance(value, _SEQUENCES):
            return [self.convert(field, item, depth + 1) for item in list(value)]
        return self._convert_object(field, value, depth)

    def _convert_object(self, field: str, value: Any, depth: int) -> Any:
        try:
            simpler = to_json_default(value)
        except TypeError:
            return self._convert_to_repr(field, value)
        return self.convert(field, simpler, depth + 1)

    def _convert_key(self, field: str, key: Any) -> str:
        if key is None or isinstance(key, bool):
            return {None: "null", True: "true", False: "false"}[key]
        if isinstance(key, tuple):
            return _valid_text(str(key))
        text = self.convert(field, key)
        return text if isinstance(text, str) else str(text)

    def _convert_to_repr(self, field: str, value: Any) -> str:
        self.unserializable.append(f"{field} ({type(value).__qualname__})")
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - a third-party __repr__ may raise anything; training continues
            text = f"<{type(value).__qualname__}>"
        return _valid_text(text[:_MAX_REPR_CHARS])


def to_json_default(value: Any) -> Any:
    """The `default` hook of the JSON encoders; handles numpy and torch without importing them.

    The result may need another conversion. Raises TypeError for an unsupported type.
    """
    try:
        to_list = value.tolist
    except AttributeError:
        pass
    else:
        return _call(to_list)  # first, because most actions and observations are arrays
    for convert in (_from_subclass, _from_record):
        simpler = convert(value)
        if simpler is not value:
            return simpler
    raise TypeError(f"a value of type {type(value).__qualname__} cannot be written as JSON")


def _call(convert: Callable[[], Any]) -> Any:
    try:
        return convert()
    except Exception as error:
        raise TypeError(f"converting it failed: {type(error).__name__}") from error


def encode_float(value: float) -> float | str:
    """NaN and the infinities as the strings of the protocol, because JSON cannot express them."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _from_subclass(value: Any) -> Any:
    if hasattr(type(value), "__members__"):  # an Enum
        return value.value
    for base in (int, float, str):
        if isinstance(value, base):
            return str.__str__(value) if base is str else base(value)
    return value


def _from_record(value: Any) -> Any:
    if callable(getattr(value, "item", None)):
        return _call(value.item)
    if isinstance(value, (bytes, bytearray, memoryview)):
        import base64  # noqa: PLC0415 - rarely needed

        return base64.b64encode(value).decode("ascii")
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        return {name: getattr(value, name) for name in fields}
    if hasattr(value, "isoformat"):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if type(value).__name__ in _CONVERTED_BY_STR:
        return str(value)
    return value


def _valid_text(text: str) -> str:
    """`text` without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
