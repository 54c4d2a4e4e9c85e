"""Loads an actor that somebody wrote: `module:attribute` or `/path/file.py:attribute`.

docs/writing-an-actor.md is the page for those who write them.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType


_FORM = "Write module:attribute, or /path/file.py:attribute."


class _AsWritten(SourceFileLoader):
    """Reads the file each time: what Python keeps compiled is told apart by the second only."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load_plug_in(what: str) -> Callable[[Any], Any]:
    """The class or function that makes the actor; WorkerError says why there is none."""
    place, colon, attribute = what.rpartition(":")
    if not colon or not place or not attribute:
        raise WorkerError(f"'{what}' names no actor.", remedy=_FORM)
    is_file = place.endswith(".py") or "/" in place
    module = _from_file(Path(place).expanduser()) if is_file else _from_name(place)
    try:
        found: Callable[[Any], Any] = getattr(module, attribute)
    except AttributeError:
        raise WorkerError(
            f"{place} has no '{attribute}'.", remedy=f"It has {_offer(module)}."
        ) from None
    if not callable(found):
        raise WorkerError(
            f"{what} is a {type(found).__name__}, not a class or a function.",
            remedy="Name what is called with the environment, and returns an actor.",
        )
    return found


def _from_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise WorkerError(
            f"The module {error.name} is not installed here.",
            remedy="Name the file instead, /path/file.py:attribute, or install it.",
        ) from error


def _from_file(path: Path) -> ModuleType:
    """Read anew each time, so that an edited file takes effect when its actor is chosen again."""
    if not path.is_file():
        raise WorkerError(
            f"There is no file {path}.",
            remedy="Give its full path: a run has a working directory of its own.",
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as for a script: its neighbours can be imported
    name = f"mosaic_actor_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_AsWritten(name, str(path)))
    if spec is None or spec.loader is None:
        raise WorkerError(f"{path} is no Python file.", remedy=_FORM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _offer(module: ModuleType) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    return ", ".join(sorted(own)) or "nothing that could be called"
