"""Finds the script that a run names: a path, a module of CleanRL, or a bare name.

Nothing is imported for it: importing a script of CleanRL would need all that it needs.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cleanrl_worker.upstream.script_flags import suggestion
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PACKAGE = "cleanrl"
OWN_PACKAGE = "cleanrl_worker.learners"
_SHARED_CODE = "cleanrl_utils"
_LEVELS_UP = 4


class ScriptLocation(NamedTuple):
    """A script, and how it was found."""

    path: Path
    origin: str
    """`path` or `cleanrl`: whose script it is."""
    root: Path
    """The folder that its own modules are imported from: the checkout, or the script's folder."""

    @property
    def name(self) -> str:
        return self.path.stem

    def sentence(self) -> str:
        whose = {
            "path": "the file that was named",
            PACKAGE: "of the installed package cleanrl",
        }
        return f"The script is {self.path}, {whose[self.origin]}."


def locate_script(script: str, folders: Iterable[str] = ()) -> ScriptLocation:
    """WorkerError, with what there is, when nothing is found.

    Our own learners are no scripts for this: they need a newer gymnasium than CleanRL's have.
    `folders` are a run's `python_path`; a package in them comes before an installed one.
    """
    if not script.strip():
        raise WorkerError("No script was named.", remedy="Give the path of a CleanRL script.")
    as_path = Path(script).expanduser()
    if as_path.suffix == ".py" or as_path.is_absolute() or len(as_path.parts) > 1:
        return _at_path(as_path, script)
    places = _package_folders(folders)
    module = script.removeprefix(f"{PACKAGE}.")
    found = _in_folders(places, module)
    if found is not None:
        return ScriptLocation(found[0], PACKAGE, found[1].parent)
    learner = script.removeprefix(f"{OWN_PACKAGE}.")
    if _in_folders([Path(__file__).parents[1] / "learners"], learner) is not None:
        raise WorkerError(
            f"`{learner}` is one of this worker's own algorithms, and no package {PACKAGE} has a "
            "script of that name.",
            remedy=f"Use `--algo {learner}`, or give the path of the script.",
        )
    raise _not_found(script, module, places)


def _at_path(path: Path, script: str) -> ScriptLocation:
    if path.is_file():
        path = path.resolve()
        return ScriptLocation(path, "path", checkout_root(path))
    if path.is_dir():
        raise WorkerError(
            f"{script} is a folder, not a script.", remedy=_scripts_in(path, "a script in it")
        )
    near = path.parent if path.parent.is_dir() else None
    names = [each.name for each in near.glob("*.py")] if near else []
    remedy = suggestion(path.name, names) if names else "Check the path."
    raise WorkerError(f"There is no script {script}.", remedy=remedy)


def checkout_root(path: Path) -> Path:
    """The nearest folder above the script that has `cleanrl_utils`; else the script's own."""
    for folder in list(path.parents)[:_LEVELS_UP]:
        if (folder / _SHARED_CODE).is_dir():
            return folder
    return path.parent


def _package_folders(folders: Iterable[str]) -> list[Path]:
    """Where modules of the package `cleanrl` lie."""
    named = [Path(folder) / PACKAGE for folder in folders]
    found = [folder for folder in named if folder.is_dir()]
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.submodule_search_locations:
        found += [Path(folder) for folder in spec.submodule_search_locations]
    return found


def _in_folders(folders: Sequence[Path], module: str) -> tuple[Path, Path] | None:
    """The module's file, and the package folder that it is in."""
    inside = f"{module.replace('.', '/')}.py"
    for folder in folders:
        if (folder / inside).is_file() and not Path(inside).name.startswith("_"):
            return (folder / inside).resolve(), folder.resolve()
    return None


def _not_found(script: str, module: str, places: Sequence[Path]) -> WorkerError:
    found = {path.stem for folder in places for path in folder.glob("*.py")}
    names = {name for name in found if not name.startswith("_")}
    if not names:
        return WorkerError(
            f"There is no script {script}. No package {PACKAGE} is installed for {sys.executable}.",
            remedy="Give the path of a file.",
        )
    return WorkerError(
        f"There is no script {script}.",
        remedy=f"{suggestion(module, names)} Or give the path of a file.",
    )


def _scripts_in(folder: Path, what: str) -> str:
    names = sorted(path.name for path in folder.glob("*.py"))[:10]
    return f"Name {what}: {', '.join(names)}." if names else "Give the path of a file."
