"""Skeletons of workers: a template's files, under the name of the worker that they become.

Each template is a working worker named `my_worker`, so that making one is copying and renaming.
Their Python files end in `.template`: they are no part of this program.
"""

import keyword
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

_FOLDER = Path(__file__).parents[1] / "worker_templates"
_SHARED = "shared"
_SUFFIX = ".template"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_REQUIREMENT = re.compile(r"^[A-Za-z0-9._-]+", re.MULTILINE)
_OURS = frozenset({"mosaic", "mosaic_worker", "gym_gui", "pygame"})

FIRST_RUNS = {
    "plain": "--env CartPole-v1 --total-timesteps 20000",
    "sb3": "--algo ppo --env CartPole-v1 --total-timesteps 20000",
    "rllib": "--env CartPole-v1 --total-timesteps 50000",
}
"""The options with which a worker of each template shows that it learns."""

TEMPLATES = tuple(FIRST_RUNS)


def expect_good_name(name: str, template: str) -> None:
    """Raises `click.UsageError` where no package of that name could be imported."""
    if _NAME.fullmatch(name) is None:
        better = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
        if not _NAME.fullmatch(better):
            better = "my_worker"
        raise click.UsageError(
            f"'{name}' cannot be a worker's name, which is that of its Python package: up to 60"
            f" small letters, digits and '_', and a letter first. Try {better}."
        )
    taken = keyword.kwlist, sys.stdlib_module_names, _OURS, _packages_of(template)
    if any(name in names for names in taken):
        raise click.UsageError(
            f"'{name}' is the name of something that the worker imports. Try {name}_worker."
        )


def write_skeleton(target: Path, name: str, template: str, sdk: str) -> list[str]:
    """Make the folder `target`, whole or not at all; returns its files by relative path.

    `sdk` is what pip is given to install the worker SDK, as a shell takes it. Raises `OSError`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place, so that moving it there is one step; a leading dot hides it from daemons.
    partial = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        partial.chmod(0o755)
        words = _words(name, sdk, FIRST_RUNS[template])
        written = [
            _write(path, partial, _renamed(inner, words), words) for path, inner in _files(template)
        ]
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return sorted(written)


def _write(source: Path, root: Path, inner: str, words: dict[str, str]) -> str:
    path = root / inner
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_renamed(source.read_text(encoding="utf-8"), words), encoding="utf-8")
    return inner


def _words(name: str, sdk: str, first_run: str) -> dict[str, str]:
    """How the words of a template are replaced."""
    parts = [part for part in name.split("_") if part]
    return {
        "my_worker": name,
        "my-worker": "-".join(parts),
        "My Worker": " ".join(part.capitalize() for part in parts),
        "MyWorker": "".join(part.capitalize() for part in parts),
        "MOSAIC_WORKER_SDK": sdk,
        "FIRST_RUN_OPTIONS": first_run,
    }


def _renamed(text: str, words: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], text)


def _files(template: str) -> Iterator[tuple[Path, str]]:
    """Each file of a template, and what it is called in the skeleton."""
    for part in (_SHARED, template):
        for path in sorted((_FOLDER / part).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path, path.relative_to(_FOLDER / part).as_posix().removesuffix(_SUFFIX)


def _packages_of(template: str) -> set[str]:
    pins = (_FOLDER / template / "requirements.txt").read_text(encoding="utf-8")
    return {found.lower().replace("-", "_") for found in _REQUIREMENT.findall(pins)}
