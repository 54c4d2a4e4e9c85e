"""A virtual environment of a checkout: its inputs, and whether it is installed from them.

launch.sh reads the record written here on every start; install.py changes the environment.
Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

LOCAL_DISTRIBUTIONS = (
    ".",
    "worker_sdk",
    "workers/echo_worker",
    "workers/session_worker",
    "workers/cleanrl_worker",
    "workers/sweep_worker",
    "workers/spade_bdi_rl_worker",
)
SETUP_MODULES = ("environment.py", "install.py", "qt_libraries.py")


@dataclass(frozen=True)
class Snapshot:
    """The inputs of an installation: the Python, and the content of every input file."""

    python: str
    inputs: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class Environment:
    """The environment at `venv` of the checkout at `root`, for one profile.

    Profiles with the same `venv` share it; every profile contains `base`.
    """

    root: Path
    venv: Path
    profile: str

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def state(self) -> Path:
        """The folder of the lock, the log and discarded environments; survives the environment."""
        return self.root / ".venv-setup"

    @property
    def requirements(self) -> tuple[str, ...]:
        names = ["base"] if self.profile == "base" else ["base", self.profile]
        return tuple(f"requirements/{name}.txt" for name in names)

    @property
    def inputs(self) -> tuple[str, ...]:
        projects = [(Path(folder) / "pyproject.toml").as_posix() for folder in LOCAL_DISTRIBUTIONS]
        modules = [f"setup/{name}" for name in SETUP_MODULES]
        return (*self.requirements, *projects, *modules)

    def snapshot(self, python: str) -> Snapshot:
        return Snapshot(
            python, tuple((name, (self.root / name).read_bytes()) for name in self.inputs)
        )

    def is_ready(self, snapshot: Snapshot) -> bool:
        """Whether the last installation finished with exactly these inputs."""
        try:
            recorded = self._record(self.profile).read_bytes()
        except OSError:
            return False
        return recorded == self._encode(snapshot) and self.python_runs()

    def was_ready(self) -> bool:
        """Whether an installation of this profile has finished before."""
        return self._record(self.profile).exists()

    def installed_for(self) -> tuple[str, str] | None:
        """Return the checkout and the Python of a finished installation."""
        for record in self._records():
            fields = record.read_bytes().split(b"\0")
            if len(fields) > 1:
                return os.fsdecode(fields[0]), os.fsdecode(fields[1])
        return None

    def reason_to_rebuild(self, requested_python: str | None) -> str | None:
        """Return why the environment cannot be updated in place; None if it can."""
        installed_for = self.installed_for()
        if self._unfinished.exists() or installed_for is None:
            return "the last set-up did not finish"
        if not self.python_runs():
            return "its Python no longer runs"
        if installed_for[0] != str(self.root):
            return "the checkout was moved"
        if requested_python not in {None, installed_for[1]}:
            return "MOSAIC_PYTHON selects another Python"
        return None

    def python_runs(self) -> bool:
        command = [str(self.python), "-I", "-c", ""]
        try:
            return subprocess.run(command, check=False, capture_output=True).returncode == 0
        except OSError:
            return False

    def is_ours(self) -> bool:
        if not self.venv.is_dir():
            return False
        started_or_finished = self._unfinished.exists() or bool(self._records())
        return started_or_finished or not any(self.venv.iterdir())

    def mark_unfinished(self) -> None:
        """If the set-up is killed before `mark_ready`, the next start rebuilds the environment."""
        self.venv.mkdir(exist_ok=True)
        self._unfinished.touch()
        for record in self._records():
            record.unlink()

    def mark_ready(self, snapshot: Snapshot) -> None:
        """Record a finished installation, also for `base`, which every profile contains."""
        for profile in {self.profile, "base"}:
            recorded = Environment(self.root, self.venv, profile)
            inputs = tuple(pair for pair in snapshot.inputs if pair[0] in recorded.inputs)
            record = self._record(profile)
            temporary = record.with_suffix(".written")
            temporary.write_bytes(self._encode(Snapshot(snapshot.python, inputs)))
            temporary.replace(record)
        self._unfinished.unlink()

    def discard(self) -> None:
        """Remove the environment atomically: a kill leaves all of it in place, or nothing."""
        self.venv.rename(Path(tempfile.mkdtemp(prefix="discarded-", dir=self.state)) / "venv")
        self.remove_discarded()

    def remove_discarded(self) -> None:
        for leftover in self.state.glob("discarded-*"):
            shutil.rmtree(leftover, ignore_errors=True)

    def set_aside(self) -> Path:
        """Move an environment that MOSAIC did not create out of the way; return its path."""
        kept = Path(tempfile.mkdtemp(prefix=f"{self.venv.name}-yours-", dir=self.root))
        return self.venv.rename(kept / self.venv.name)

    @property
    def _unfinished(self) -> Path:
        return self.venv / "mosaic.unfinished"

    def _record(self, profile: str) -> Path:
        return self.venv / f"mosaic-{profile}.ready"

    def _records(self) -> list[Path]:
        return list(self.venv.glob("mosaic-*.ready"))

    def _encode(self, snapshot: Snapshot) -> bytes:
        fields = [os.fsencode(self.root), os.fsencode(snapshot.python)]
        for name, text in snapshot.inputs:
            fields += [name.encode(), text]
        return b"\0".join(fields)
