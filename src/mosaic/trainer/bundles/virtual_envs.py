"""The virtual environments on disk: `venvs/<bundle>-<hash>/`, immutable once they are ready.

`ready.json` is written last: a folder without it is an interrupted installation. A folder is
renamed before it is deleted, so that a partial one is never used. Callers that change an
environment hold its lock (`lock_path`).
"""

import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.layout import Home
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.trainer.processes.process_environment import bare_environment
from mosaic.trainer.processes.watched_process import run_bounded
from mosaic.trainer.workers.source_files import Stamp, file_stamp

_CHECK_TIMEOUT_S = 60.0
_TOUCH_INTERVAL_S = 3600.0
_ASIDE = ".replaced-"
_DOOMED = ".removing-"
_SCRATCH = ".making-"
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*-[0-9a-f]{12}")


class VirtualEnvRecord(msgspec.Struct, kw_only=True, frozen=True):
    """`ready.json`: what an environment was built from."""

    name: str
    hash: str
    extras: tuple[str, ...] = ()
    python: str
    python_stamp: Stamp | None = None
    """Of its interpreter: while it is unchanged, it need not be executed to check it."""
    created_at: float
    packages: dict[str, str] = {}
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class VirtualEnv:
    """A complete virtual environment."""

    path: Path
    record: VirtualEnvRecord

    @property
    def key(self) -> str:
        return self.path.name

    @property
    def python(self) -> Path:
        return self.path / "bin" / "python"


class VirtualEnvs:
    """Reads, checks, sets aside and removes. Thread-safe."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._records: dict[Path, tuple[Stamp, VirtualEnvRecord]] = {}
        self._checked: dict[Path, Stamp] = {}

    def path(self, key: str) -> Path:
        return self._home.venvs / key

    def lock_path(self, key: str) -> Path:
        return self._home.venvs / f".{key}.lock"

    def all_keys(self) -> list[str]:
        """The keys of all environments, complete or not. Other folders are ignored."""
        return sorted(name for name in self._names() if _KEY.fullmatch(name))

    def read(self, key: str) -> VirtualEnv | None:
        """The environment, if it is complete; `problem` checks it."""
        path = self.path(key)
        stamp = file_stamp(path / "ready.json")
        if stamp is None:
            return None
        with self._lock:
            known = self._records.get(path)
        if known is not None and known[0] == stamp:
            return VirtualEnv(path, known[1])
        try:
            record = msgspec.json.decode((path / "ready.json").read_bytes(), type=VirtualEnvRecord)
        except (OSError, msgspec.DecodeError):
            return None
        with self._lock:
            self._records[path] = (stamp, record)
        return VirtualEnv(path, record)

    def usable(self, key: str) -> VirtualEnv | None:
        environment = self.read(key)
        return environment if environment and not self.problem(environment) else None

    def problem(self, environment: VirtualEnv) -> str:
        """Why it cannot be used; empty when it can. Runs its Python only if that has changed."""
        stamp = file_stamp(environment.python)
        if stamp is None:
            return "Its Python is missing."
        if site_packages(environment.path) is None:
            return "Its packages are missing."
        if stamp == environment.record.python_stamp:
            return ""
        with self._lock:
            if self._checked.get(environment.path) == stamp:
                return ""
        problem = _run_check(environment)
        if not problem:
            with self._lock:
                self._checked[environment.path] = stamp
        return problem

    def finish(self, path: Path, record: VirtualEnvRecord) -> VirtualEnv:
        """Write `ready.json`; from here on it can be used."""
        site = site_packages(path)
        record = msgspec.structs.replace(
            record,
            python_stamp=file_stamp(path / "bin" / "python"),
            packages=installed_packages(site) if site else {},
            size_bytes=size_of(path),
        )
        write_atomically(path / "ready.json", msgspec.json.encode(record))
        return VirtualEnv(path, record)

    def touch(self, environment: VirtualEnv) -> None:
        """Update its last use at most once an hour, for the cleanup of unused ones."""
        try:
            if time.time() - self.last_used(environment) > _TOUCH_INTERVAL_S:
                os.utime(environment.path)
        except OSError:
            return  # it can be used anyway

    def last_used(self, environment: VirtualEnv) -> float:
        return environment.path.stat().st_mtime

    def scratch(self, key: str) -> Path:
        """The path of a new folder for temporary files of an installation."""
        return self._sibling(_SCRATCH, key)

    def set_aside(self, key: str) -> None:
        """Rename it for a new one; `recover` restores it unless the new one is complete."""
        if self.path(key).exists():
            self.path(key).rename(self._sibling(_ASIDE, key))

    def recover(self, key: str) -> None:
        """Remove an interrupted installation, and restore the environment it was to replace."""
        if self.path(key).exists() and self.read(key) is None:
            self.remove(key)
        for leftover in self._siblings_of(key):
            if leftover.name.startswith(_ASIDE) and not self.path(key).exists():
                leftover.rename(self.path(key))
            else:
                shutil.rmtree(leftover, ignore_errors=True)

    def leftovers(self) -> set[str]:
        """Keys of environments that `recover` has to handle."""
        set_aside_keys = {_key_of_sibling(name) for name in self._names() if _key_of_sibling(name)}
        unfinished = {key for key in self.all_keys() if self.read(key) is None}
        return set_aside_keys | unfinished

    def remove(self, key: str) -> None:
        """Remove it: renamed at once, then deleted."""
        doomed = self._sibling(_DOOMED, key)
        self.path(key).rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)

    def _sibling(self, prefix: str, key: str) -> Path:
        return self._home.venvs / f"{prefix}{key}-{secrets.token_hex(4)}"

    def _siblings_of(self, key: str) -> Iterator[Path]:
        for name in self._names():
            if _key_of_sibling(name) == key:
                yield self._home.venvs / name

    def _names(self) -> list[str]:
        try:
            return [entry.name for entry in os.scandir(self._home.venvs) if entry.is_dir()]
        except FileNotFoundError:
            return []


def _key_of_sibling(name: str) -> str:
    for prefix in (_ASIDE, _DOOMED, _SCRATCH):
        if name.startswith(prefix):
            return name.removeprefix(prefix).rpartition("-")[0]
    return ""


def site_packages(environment: Path) -> Path | None:
    return next(iter(environment.glob("lib/*/site-packages")), None)


def installed_packages(site: Path) -> dict[str, str]:
    """Names and versions of the installed packages."""
    names_and_versions = (
        (distribution.metadata["Name"], distribution.version)
        for distribution in distributions(path=[str(site)])
    )
    return dict(sorted((str(name), str(version)) for name, version in names_and_versions if name))


def size_of(folder: Path) -> int:
    """The total size of all files in it, in bytes."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size  # noqa: PTH118 - many files
            except FileNotFoundError:
                continue  # removed in the meantime
    return total


def _run_check(environment: VirtualEnv) -> str:
    """A problem if its Python does not run, or has another version than the packages need."""
    command = [
        str(environment.python),
        "-I",
        "-c",
        "import sys; print(*sys.version_info[:2], sep='.')",
    ]
    try:
        answer = run_bounded(command, limit_s=_CHECK_TIMEOUT_S, environment=bare_environment())
    except OSError as error:
        return f"Its Python does not run: {error}."
    if answer.timed_out:
        return f"Its Python does not run: it did not end within {_CHECK_TIMEOUT_S:g} s."
    if answer.exit_code != 0:
        return f"Its Python does not run: exit code {answer.exit_code}."
    version = answer.output.decode(errors="replace").strip()
    if version != environment.record.python.rpartition(".")[0]:
        return f"It was built for Python {environment.record.python}, and its Python is {version}."
    return ""


prebuild_decoders(VirtualEnvRecord)
