"""Code that the configuration of an imported run names: withheld until a user agrees to run it.

The author of an archive could name a folder inside it (`python_path: ["../<run id>/files"]`), and
the next run with that configuration would import modules from there.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunDetails

_CODE_FIELDS = ("python_path", "script")
"""At any depth: a sweep has the configuration of its trials in its metadata."""
_PYTHON_FILE = re.compile(r"\.pyw?(?::|$)", re.IGNORECASE)
"""Such as `/path/file.py:Class`, the name of an actor."""
_SCRIPT_ALGORITHM = "withheld-script"
"""The algorithm of a run whose script is withheld; a configuration needs one or the other."""

IMPORTED_CODE = "C152"
"""The configuration of an imported run names code that would be run."""


def withhold_code(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The configuration without the code that it names, and that code in the same structure."""
    safe, withheld = _split(config)
    if "script" in withheld and safe.get("algo") is None:
        safe["algo"] = _SCRIPT_ALGORITHM
    return safe, withheld


def restore_code(config: Mapping[str, Any], withheld: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration with the code that was withheld. Only after a user has agreed."""
    restored = _merge(config, withheld)
    if restored.get("algo") == _SCRIPT_ALGORITHM:
        restored["algo"] = None
    return restored


def describe_code(withheld: Mapping[str, Any]) -> tuple[str, ...]:
    """What would be run, one text per field."""
    return tuple(f"{path}: {text}" for path, text in _flatten(withheld))


def reusable_config(details: RunDetails, *, use_imported_code: bool, remedy: str) -> dict[str, Any]:
    """The configuration of a run, for another run.

    Raises `UserError` that names the code of an imported run, unless the user agreed to run it.
    """
    config: dict[str, Any] = msgspec.json.decode(details.config_json)
    withheld: dict[str, Any] = msgspec.json.decode(details.withheld_json)
    if withheld and not use_imported_code:
        lines = "".join(f"\n  {line}" for line in describe_code(withheld))
        raise UserError(
            f"Run {details.run.run_id} was imported, and its configuration names code that would"
            f" run as you:{lines}",
            remedy=remedy,
            code=IMPORTED_CODE,
        )
    return restore_code(config, withheld)


def _split(section: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    safe: dict[str, Any] = {}
    withheld: dict[str, Any] = {}
    for name, value in section.items():
        if isinstance(value, Mapping) and name not in _CODE_FIELDS:
            safe[name], inner = _split(value)
            if inner:
                withheld[name] = inner
        elif value and (name in _CODE_FIELDS or _names_code(value)):
            withheld[name] = value
        else:
            safe[name] = value
    return safe, withheld


def _names_code(value: Any) -> bool:
    if isinstance(value, str):
        return _PYTHON_FILE.search(value) is not None
    if isinstance(value, Mapping):
        return bool(_split(value)[1])
    return isinstance(value, (list, tuple)) and any(map(_names_code, value))


def _merge(section: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(section)
    for name, value in changes.items():
        earlier = merged.get(name)
        if isinstance(value, Mapping) and isinstance(earlier, Mapping):
            merged[name] = _merge(earlier, value)
        else:
            merged[name] = value
    return merged


def _flatten(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            yield f"{prefix}{name}", text
