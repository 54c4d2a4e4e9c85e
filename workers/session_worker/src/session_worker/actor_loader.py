"""load_actor: loads a custom actor, `module:attribute` or `/path/file.py:attribute`.

docs/writing-an-actor.md is the guide for authors.
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


_REMEDY = "Write module:attribute, or /path/file.py:attribute."


class _UncachedLoader(SourceFileLoader):
    """Ignores cached bytecode, whose time stamp has a resolution of only one second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load_actor(name: str) -> Callable[[Any], Any]:
    """The class or function that creates the actor. Raises WorkerError."""
    location, colon, attribute = name.rpartition(":")
    if not colon or not location or not attribute:
        raise WorkerError(f"'{name}' is not the name of an actor.", remedy=_REMEDY)
    is_file = location.endswith(".py") or "/" in location
    module = _load_file(Path(location).expanduser()) if is_file else _import_module(location)
    try:
        factory: Callable[[Any], Any] = getattr(module, attribute)
    except AttributeError:
        raise WorkerError(
            f"{location} has no '{attribute}'.", remedy=f"Choose from {_list_callables(module)}."
        ) from None
    if not callable(factory):
        raise WorkerError(
            f"{name} must be a class or a function, got {type(factory).__name__}.",
            remedy="Name a callable that takes the environment and returns an actor.",
        )
    return factory


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise WorkerError(
            f"The module {error.name} is not installed.",
            remedy="Install it, or name the file: /path/file.py:attribute.",
        ) from error


def _load_file(path: Path) -> ModuleType:
    """Read the file each time, so that edits take effect when the actor is chosen again."""
    if not path.is_file():
        raise WorkerError(
            f"The file {path} does not exist.",
            remedy="Use an absolute path, because a run has its own working directory.",
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # so that modules beside the file can be imported
    name = f"mosaic_actor_{path.stem}"
    spec = importlib.util.spec_from_file_location(
        name, path, loader=_UncachedLoader(name, str(path))
    )
    if spec is None or spec.loader is None:
        raise WorkerError(f"{path} is not a Python file.", remedy=_REMEDY)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _list_callables(module: ModuleType) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    return ", ".join(sorted(own)) or "nothing: the module has no callables"
