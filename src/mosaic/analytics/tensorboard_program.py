"""Where TensorBoard is: in our own environment, or in a bundle that brings it.

Found by looking at files, so nothing of it is ever imported here.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

_IN_PACKAGES = Path("tensorboard") / "main.py"
_FACTS = "ready.json"
"""Written into a bundle when it is whole."""


@dataclass(frozen=True, slots=True)
class TensorBoardProgram:
    """A Python that has it."""

    python: Path
    version: str
    source: str
    """Whose it is, for people: `this environment`, `the bundle cleanrl_worker`."""


class TensorBoardAbsentError(UserError):
    """It is nowhere."""

    def __init__(self) -> None:
        super().__init__(
            "TensorBoard is not installed.",
            remedy="Install the bundle of the CleanRL worker, which brings it, or run "
            "`pip install 'mosaic-workbench[tensorboard]'`. "
            "The charts show the same numbers without it.",
            code="C242",
        )


def find_tensorboard(home: Home) -> TensorBoardProgram:
    """Ours, else that of the bundle with the newest one. TensorBoardAbsentError without any."""
    own = _in_environment(Path(sys.prefix), "this environment")
    if own is not None:
        return own
    found = list(_in_bundles(home))
    if not found:
        raise TensorBoardAbsentError
    return max(found, key=lambda program: (_as_numbers(program.version), program.source))


def _in_bundles(home: Home) -> Iterator[TensorBoardProgram]:
    try:
        folders = sorted(home.venvs.iterdir())
    except OSError:
        return
    for folder in folders:
        try:
            facts = msgspec.json.decode((folder / _FACTS).read_bytes())
            name = str(facts["name"])
        except (OSError, msgspec.MsgspecError, KeyError, TypeError):
            continue  # it is being installed, or removed
        program = _in_environment(folder, f"the bundle {name}")
        if program is not None:
            yield program


def _in_environment(folder: Path, source: str) -> TensorBoardProgram | None:
    python = folder / "bin" / "python"
    if not python.exists():
        return None
    for packages in sorted(folder.glob("lib/python3*/site-packages")):
        if (packages / _IN_PACKAGES).exists():
            return TensorBoardProgram(python, _version_in(packages), source)
    return None


def _version_in(packages: Path) -> str:
    for folder in packages.glob("tensorboard-*.dist-info"):
        return folder.name.removeprefix("tensorboard-").removesuffix(".dist-info")
    return ""


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
