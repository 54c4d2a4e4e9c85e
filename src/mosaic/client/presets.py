"""Presets: saved run configurations, by name in the home or in any file.

A sweep saves its best trial as a preset; `mosaic train --preset NAME` loads one.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.client.former_names import resolve_former_names
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, create_private_folder
from mosaic.contract.problems import closest

_SUFFIX = ".json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_RUN_SPECIFIC_FIELDS = (
    "run_name",
    "seed",
    "parent_run",
    "priority",
    "time_limit_s",
    "lease_s",
    "metadata",
)
_MAX_FILE_BYTES = 4 << 20


class PresetError(UserError):
    """A preset cannot be read or written."""

    default_code = "C231"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


def make_preset(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's configuration without run-specific and empty fields."""
    return {
        name: value
        for name, value in config.items()
        if name not in _RUN_SPECIFIC_FIELDS and value not in (None, {}, [], "")
    }


def to_preset_name(text: str) -> str:
    """Return `text` as a valid preset name."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:100]
    return name or "preset"


def preset_path(home: Home, name: str) -> Path:
    """Return the path of the preset with that name, whether it exists or not."""
    if not _NAME.fullmatch(name):
        raise PresetError(
            f"'{name[:100]}' is not a valid preset name.",
            remedy="Use up to 100 letters, digits, dots, dashes and underscores.",
        )
    return home.presets / f"{name}{_SUFFIX}"


def list_presets(home: Home) -> list[str]:
    """Return the names of all presets in the home."""
    return sorted(path.stem for path in home.presets.glob(f"*{_SUFFIX}"))


def save_preset(home: Home, name: str, document: Mapping[str, Any]) -> Path:
    """Save `document` as `name`, replacing a preset with that name."""
    path = preset_path(home, name)
    create_private_folder(path.parent)
    write_atomically(path, encode_preset(document))
    return path


def encode_preset(document: Mapping[str, Any]) -> bytes:
    """Return the preset as indented JSON with sorted keys."""
    return msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2) + b"\n"


def load_preset(home: Home, reference: str) -> dict[str, Any]:
    """Load the preset `reference`: a name, or the path of a file."""
    path = _find_preset(home, reference)
    try:
        with path.open("rb") as file:
            document = msgspec.json.decode(file.read(_MAX_FILE_BYTES))
    except (OSError, msgspec.DecodeError) as error:
        raise PresetError(
            f"The preset {path} cannot be read: {error}.",
            remedy="Check that it is a JSON file that you can read.",
        ) from error
    if not isinstance(document, dict):
        raise PresetError(
            f"{path} is not a preset.",
            remedy="The file must contain one JSON object with a run configuration.",
        )
    return document


def _find_preset(home: Home, reference: str) -> Path:
    if _NAME.fullmatch(reference) and preset_path(home, reference).is_file():
        return preset_path(home, reference)
    path = Path(reference).expanduser()
    if path.is_file():
        return path
    names = list_presets(home)
    suggestion = closest(reference, names)
    available = f"Available presets: {', '.join(names)}." if names else "No presets are saved."
    raise PresetError(
        f"There is no preset '{reference[:200]}' and no file with that name.",
        remedy=f"Did you mean {suggestion}?" if suggestion else available,
    )


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)
