"""Worker skeletons: the files of a template, renamed to the new worker.

Each template is a working worker named `my_worker`. Its Python files end in `.template`, because
they are not part of this program.
"""

import keyword
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

_FOLDER = Path(__file__).parent / "worker_templates"
_SHARED = "shared"
_SUFFIX = ".template"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_REQUIREMENT = re.compile(r"^[A-Za-z0-9._-]+", re.MULTILINE)
_RESERVED_NAMES = frozenset({"mosaic", "mosaic_worker", "gym_gui", "pygame"})

FIRST_RUNS = {
    "plain": "--env CartPole-v1 --total-timesteps 20000",
    "sb3": "--algo ppo --env CartPole-v1 --total-timesteps 20000",
    "rllib": "--env CartPole-v1 --total-timesteps 50000",
}
"""Options of a first training run, by template."""

TEMPLATES = tuple(FIRST_RUNS)


def check_name(name: str, template: str) -> None:
    """Raise `click.UsageError` if no package of that name could be imported."""
    if _NAME.fullmatch(name) is None:
        suggestion = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
        if not _NAME.fullmatch(suggestion):
            suggestion = "my_worker"
        raise click.UsageError(
            f"'{name}' is not a valid worker name. Expected the name of a Python package: up to 60"
            f" lowercase letters, digits and '_', starting with a letter. Try {suggestion}."
        )
    reserved = keyword.kwlist, sys.stdlib_module_names, _RESERVED_NAMES, _packages_of(template)
    if any(name in names for names in reserved):
        raise click.UsageError(
            f"'{name}' is the name of a module that the worker imports. Try {name}_worker."
        )


def write_skeleton(target: Path, name: str, template: str, sdk: str) -> list[str]:
    """Create the folder `target` atomically; return the relative paths of its files.

    `sdk` are the shell arguments of pip that install the worker SDK. Raises `OSError`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, so that renaming is atomic; daemons ignore names with a leading dot.
    partial = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        partial.chmod(0o755)
        replacements = _replacements(name, sdk, FIRST_RUNS[template])
        written = [
            _write(path, partial, _replace(inner, replacements), replacements)
            for path, inner in _files(template)
        ]
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return sorted(written)


def _write(source: Path, root: Path, inner: str, replacements: dict[str, str]) -> str:
    path = root / inner
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_replace(source.read_text(encoding="utf-8"), replacements), encoding="utf-8")
    return inner


def _replacements(name: str, sdk: str, first_run: str) -> dict[str, str]:
    """Return what to replace in file names and contents of a template."""
    parts = [part for part in name.split("_") if part]
    return {
        "my_worker": name,
        "my-worker": "-".join(parts),
        "My Worker": " ".join(part.capitalize() for part in parts),
        "MyWorker": "".join(part.capitalize() for part in parts),
        "MOSAIC_WORKER_SDK": sdk,
        "FIRST_RUN_OPTIONS": first_run,
    }


def _replace(text: str, replacements: dict[str, str]) -> str:
    pattern = "|".join(map(re.escape, replacements))
    return re.sub(pattern, lambda match: replacements[match[0]], text)


def _files(template: str) -> Iterator[tuple[Path, str]]:
    """Yield each file of a template with its path in the skeleton."""
    for folder in (_SHARED, template):
        for path in sorted((_FOLDER / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path, path.relative_to(_FOLDER / folder).as_posix().removesuffix(_SUFFIX)


def _packages_of(template: str) -> set[str]:
    pins = (_FOLDER / template / "requirements.txt").read_text(encoding="utf-8")
    return {name.lower().replace("-", "_") for name in _REQUIREMENT.findall(pins)}
