"""Finds an installation of TensorBoard: in this environment, or in a bundle that includes it.

Only looks at files; TensorBoard is never imported here.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

_MAIN_MODULE = Path("tensorboard") / "main.py"
_BUNDLE_INFO = "ready.json"
"""Written into a bundle when its installation is complete."""


@dataclass(frozen=True, slots=True)
class TensorBoardProgram:
    """A Python interpreter that has TensorBoard."""

    python: Path
    version: str
    source: str
    """Label of the installation: `this environment`, `the bundle cleanrl_worker`."""


def find_tensorboard(home: Home) -> TensorBoardProgram:
    """Return the installation of this environment, else the newest one of a bundle.

    Raises `UserError` if there is none.
    """
    own = _find_in_environment(Path(sys.prefix), "this environment")
    if own is not None:
        return own
    programs = list(_find_in_bundles(home))
    if not programs:
        raise UserError(
            "TensorBoard is not installed.",
            remedy="Install the bundle of the CleanRL worker, which includes it, or run "
            "`pip install 'mosaic-workbench[tensorboard]'`. "
            "The charts show the same metrics without it.",
            code="C242",
        )
    return max(programs, key=lambda program: (_parse_version(program.version), program.source))


def _find_in_bundles(home: Home) -> Iterator[TensorBoardProgram]:
    try:
        folders = sorted(home.venvs.iterdir())
    except OSError:
        return
    for folder in folders:
        try:
            info = msgspec.json.decode((folder / _BUNDLE_INFO).read_bytes())
            name = str(info["name"])
        except (OSError, msgspec.MsgspecError, KeyError, TypeError):
            continue  # being installed or removed
        program = _find_in_environment(folder, f"the bundle {name}")
        if program is not None:
            yield program


def _find_in_environment(folder: Path, source: str) -> TensorBoardProgram | None:
    python = folder / "bin" / "python"
    if not python.exists():
        return None
    for packages in sorted(folder.glob("lib/python3*/site-packages")):
        if (packages / _MAIN_MODULE).exists():
            return TensorBoardProgram(python, _read_version(packages), source)
    return None


def _read_version(packages: Path) -> str:
    for folder in packages.glob("tensorboard-*.dist-info"):
        return folder.name.removeprefix("tensorboard-").removesuffix(".dist-info")
    return ""


def _parse_version(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
