"""Finds the script of a run: a path, a module of CleanRL, or a name.

Nothing is imported, because importing a CleanRL script would need all of its packages.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cleanrl_worker.upstream.flags import suggest
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PACKAGE = "cleanrl"
OWN_PACKAGE = "cleanrl_worker.learners"
_SHARED_CODE = "cleanrl_utils"
_MAX_LEVELS_UP = 4


class ScriptLocation(NamedTuple):
    """A script and its origin."""

    path: Path
    origin: str
    """`path`, or `cleanrl` for a script of the package."""
    root: Path
    """The folder of its own modules: the checkout, or the script's folder."""

    @property
    def name(self) -> str:
        return self.path.stem

    def sentence(self) -> str:
        origin = {"path": "given as a file", PACKAGE: "of the installed package cleanrl"}
        return f"The script is {self.path}, {origin[self.origin]}."


def locate_script(script: str, folders: Iterable[str] = ()) -> ScriptLocation:
    """Raises `WorkerError` with suggestions if there is no such script.

    The worker's own learners are not scripts: they need a newer gymnasium than CleanRL's scripts.
    `folders` is a run's `python_path`; a package in it has priority over an installed one.
    """
    if not script.strip():
        raise WorkerError("No script was given.", remedy="Give the path of a CleanRL script.")
    as_path = Path(script).expanduser()
    if as_path.suffix == ".py" or as_path.is_absolute() or len(as_path.parts) > 1:
        return _at_path(as_path, script)
    package_folders = _package_folders(folders)
    module = script.removeprefix(f"{PACKAGE}.")
    located = _find_module(package_folders, module)
    if located is not None:
        return ScriptLocation(located[0], PACKAGE, located[1].parent)
    learner = script.removeprefix(f"{OWN_PACKAGE}.")
    if _find_module([Path(__file__).parents[1] / "learners"], learner) is not None:
        raise WorkerError(
            f"`{learner}` is an algorithm of this worker, and there is no script of that name in a "
            f"package {PACKAGE}.",
            remedy=f"Use `--algo {learner}`, or give the path of the script.",
        )
    raise _not_found(script, module, package_folders)


def _at_path(path: Path, script: str) -> ScriptLocation:
    if path.is_file():
        path = path.resolve()
        return ScriptLocation(path, "path", checkout_root(path))
    if path.is_dir():
        raise WorkerError(f"{script} is a folder, not a script.", remedy=_list_scripts(path))
    folder = path.parent if path.parent.is_dir() else None
    names = [sibling.name for sibling in folder.glob("*.py")] if folder else []
    remedy = suggest(path.name, names) if names else "Check the path."
    raise WorkerError(f"There is no script {script}.", remedy=remedy)


def checkout_root(path: Path) -> Path:
    """Return the nearest parent folder with `cleanrl_utils`, or else the script's folder."""
    for folder in list(path.parents)[:_MAX_LEVELS_UP]:
        if (folder / _SHARED_CODE).is_dir():
            return folder
    return path.parent


def _package_folders(folders: Iterable[str]) -> list[Path]:
    """Return the folders of the package `cleanrl`."""
    candidates = [Path(folder) / PACKAGE for folder in folders]
    existing = [folder for folder in candidates if folder.is_dir()]
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.submodule_search_locations:
        existing += [Path(folder) for folder in spec.submodule_search_locations]
    return existing


def _find_module(folders: Sequence[Path], module: str) -> tuple[Path, Path] | None:
    """Return the module's file and its package folder."""
    relative = f"{module.replace('.', '/')}.py"
    for folder in folders:
        if (folder / relative).is_file() and not Path(relative).name.startswith("_"):
            return (folder / relative).resolve(), folder.resolve()
    return None


def _not_found(script: str, module: str, package_folders: Sequence[Path]) -> WorkerError:
    stems = {path.stem for folder in package_folders for path in folder.glob("*.py")}
    names = {name for name in stems if not name.startswith("_")}
    if not names:
        return WorkerError(
            f"There is no script {script}. No package {PACKAGE} is installed for {sys.executable}.",
            remedy="Give the path of a file.",
        )
    return WorkerError(
        f"There is no script {script}.",
        remedy=f"{suggest(module, names)} Or give the path of a file.",
    )


def _list_scripts(folder: Path) -> str:
    names = sorted(path.name for path in folder.glob("*.py"))[:10]
    return f"Give a script in it: {', '.join(names)}." if names else "Give the path of a file."
