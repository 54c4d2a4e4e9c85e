"""Parameter: a typed parameter of an algorithm, for forms and for validation."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from mosaic_worker.errors import ConfigError

TYPES = ("int", "float", "bool", "str", "choice")

_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True}
_BOOLEANS.update({"false": False, "no": False, "off": False, "0": False})


class Parameter(NamedTuple):
    """`type` is int, float, bool, str or choice; `min` and `max` are inclusive.

    A default of None means that the parameter is unset by default.
    `search` is the range (low, high) of a sweep; `log` selects a logarithmic scale, as for a
    learning rate.
    """

    name: str
    type: str
    default: Any
    min: float | None = None
    max: float | None = None
    choices: tuple[Any, ...] = ()
    unit: str = ""
    group: str = ""
    help: str = ""
    search: tuple[float, float] | None = None
    log: bool = False
    label: str = ""
    """Label in forms; empty: derived from the name."""

    def to_json(self) -> dict[str, Any]:
        described = self._asdict()
        described["choices"] = list(self.choices)
        described["search"] = None if self.search is None else list(self.search)
        return dict(described)

    def check(self) -> None:
        """Raise ValueError if the declaration is invalid."""
        if not self.name.isidentifier():
            raise ValueError(f"parameter {self.name!r}: the name must be a Python identifier")
        if self.type not in TYPES:
            raise ValueError(f"parameter {self.name}: type {self.type!r} is not one of {TYPES}")
        if (self.type == "choice") != bool(self.choices):
            raise ValueError(f"parameter {self.name}: choices are required for type 'choice' only")
        try:
            self.value(self.default)
        except ConfigError as error:
            raise ValueError(f"parameter {self.name}: default: {error.message}") from None
        self._check_search()

    def value(self, given: Any, field: str = "") -> Any:
        """Convert the JSON value `given`. Raises ConfigError, which names `field`."""
        field = field or f"params.{self.name}"
        if given is None and self.default is None:
            return None
        value = self._convert(given, field)
        if self.type in ("int", "float") and not self._in_range(value):
            raise ConfigError(field, f"{value} is out of range.", remedy=self._range_remedy())
        return value

    def parse(self, text: str, field: str = "") -> Any:
        """Convert `text` from the command line."""
        field = field or f"--set {self.name}"
        if self.type == "choice":
            for choice in self.choices:
                if str(choice) == text:
                    return choice
        try:
            given: Any = {"int": int, "float": float}.get(self.type, str)(text)
        except ValueError:
            given = text
        if self.type == "bool":
            given = _BOOLEANS.get(text.lower(), text)
        return self.value(given, field)

    def _check_search(self) -> None:
        if (self.search is not None or self.log) and self.type not in ("int", "float"):
            raise ValueError(f"parameter {self.name}: search and log require type int or float")
        if self.search is None:
            return
        allowed = int if self.type == "int" else (int, float)
        numbers = [b for b in self.search if _is_number(b) and isinstance(b, allowed)]
        if len(self.search) != 2 or len(numbers) != 2:
            kind = "integers" if self.type == "int" else "numbers"
            raise ValueError(f"parameter {self.name}: search must be two {kind}, low and high")
        try:
            low, high = (self.value(bound) for bound in self.search)
        except ConfigError as error:
            raise ValueError(f"parameter {self.name}: search: {error.message}") from None
        if low >= high:
            raise ValueError(f"parameter {self.name}: search must be (low, high) with low < high")
        if self.log and low <= 0:
            raise ValueError(f"parameter {self.name}: log requires a search range above 0")

    def _convert(self, given: Any, field: str) -> Any:
        if self.type == "choice":
            if given in (self.choices):
                return given
            remedy = "Use one of " + ", ".join(str(choice) for choice in self.choices) + "."
            raise ConfigError(field, f"{given!r} is not one of the choices.", remedy=remedy)
        if self.type == "float" and _is_number(given):
            return float(given)
        if self.type == "int" and _is_number(given) and given == int(given):
            return int(given)
        if isinstance(given, {"bool": bool, "str": str}.get(self.type, ())):
            return given
        raise ConfigError(
            field,
            f"must be {_TYPE_NAMES[self.type]}, got {given!r}.",
            remedy=f"Use {_TYPE_NAMES[self.type]}{self._example()}.",
        )

    def _example(self) -> str:
        return "" if self.default in (None, "") else f" such as {self.default!r}"

    def _in_range(self, value: float) -> bool:
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def _range_remedy(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if self.min is None:
            return f"Use at most {self.max}{unit}."
        if self.max is None:
            return f"Use at least {self.min}{unit}."
        return f"Use a value from {self.min} to {self.max}{unit}."


_TYPE_NAMES = {
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "str": "a string",
}


def _is_number(given: Any) -> bool:
    """Whether it is a finite number; booleans are not."""
    return isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given)
