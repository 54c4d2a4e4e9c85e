"""Presets: configurations to begin a run with, kept by name in the home, or anywhere in a file.

A sweep saves its best trial as one, and `mosaic train --preset NAME` begins with it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.problems import closest

_ENDING = ".json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_OF_ONE_RUN = ("run_name", "seed", "parent_run", "priority", "time_limit_s", "lease_s", "metadata")
_LARGEST_BYTES = 4 << 20


class PresetError(UserError):
    """A preset cannot be read or written."""

    default_code = "C231"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


def as_preset(config: Mapping[str, Any]) -> dict[str, Any]:
    """A run's configuration without what belongs to that one run, and without empty fields."""
    return {
        name: value
        for name, value in config.items()
        if name not in _OF_ONE_RUN and value not in (None, {}, [], "")
    }


def preset_name(wanted: str) -> str:
    """`wanted` as a name that can be a file's."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-._")[:100]
    return name or "preset"


def preset_path(home: Home, name: str) -> Path:
    """Where the preset of that name is or will be."""
    if not _NAME.fullmatch(name):
        raise PresetError(
            f"'{name[:100]}' cannot be a preset's name.",
            remedy="Use up to 100 letters, digits, dots, dashes and underscores.",
        )
    return home.presets / f"{name}{_ENDING}"


def preset_names(home: Home) -> list[str]:
    """The presets there are."""
    return sorted(path.stem for path in home.presets.glob(f"*{_ENDING}"))


def save_preset(home: Home, name: str, document: Mapping[str, Any]) -> Path:
    """Keep `document` under `name`; one of that name is replaced."""
    path = preset_path(home, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, preset_text(document))
    return path


def preset_text(document: Mapping[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2) + b"\n"


def load_preset(home: Home, reference: str) -> dict[str, Any]:
    """The preset that is meant by `reference`: a name, or the path of a file."""
    path = _find(home, reference)
    try:
        with path.open("rb") as file:
            document = msgspec.json.decode(file.read(_LARGEST_BYTES))
    except (OSError, msgspec.DecodeError) as error:
        raise PresetError(
            f"The preset {path} cannot be read: {error}.",
            remedy="Check that it is a JSON file and that you may read it.",
        ) from error
    if not isinstance(document, dict):
        raise PresetError(
            f"{path} is no preset.", remedy="It must hold one JSON object, a run configuration."
        )
    return document


def _find(home: Home, reference: str) -> Path:
    if _NAME.fullmatch(reference) and preset_path(home, reference).is_file():
        return preset_path(home, reference)
    as_file = Path(reference).expanduser()
    if as_file.is_file():
        return as_file
    names = preset_names(home)
    meant = closest(reference, names)
    there_are = f"There are {', '.join(names)}." if names else "There are none yet."
    raise PresetError(
        f"There is no preset '{reference[:200]}', and no file of that name.",
        remedy=f"Did you mean {meant}?" if meant else there_are,
    )
