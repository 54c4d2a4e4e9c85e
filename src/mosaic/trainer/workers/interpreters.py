"""Finding a Python in a worker's version range. Each candidate is executed to verify it."""

import os
import re
import sys
import sysconfig
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.worker_manifest import WorkerManifest
from mosaic.trainer.processes.process_environment import bare_environment
from mosaic.trainer.processes.watched_process import run_bounded
from mosaic.trainer.workers.source_files import Stamp, file_stamp

_PROBE = """
import json, sys, sysconfig
print(json.dumps({
    "path": getattr(sys, "_base_executable", None) or sys.executable,
    "version": list(sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "platform": sysconfig.get_platform(),
}))
"""
_PROBE_TIMEOUT_S = 20.0
_NAMED = re.compile(r"python3\.(\d+)\Z")
_IN_PYENV = re.compile(r"3\.(\d+)\.")


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """A working Python."""

    path: str
    version: tuple[int, int, int]
    implementation: str
    platform: str

    @property
    def version_text(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def kind(self) -> str:
        """What compiled packages depend on; the same for all releases of a minor version."""
        return f"{self.implementation}-{self.version[0]}.{self.version[1]}-{self.platform}"


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: Path
    minor: int


class Interpreters:
    """The Pythons of this machine. Thread-safe; each is executed once per change."""

    def __init__(self) -> None:
        self._probed: dict[Path, tuple[Stamp, Interpreter | None]] = {}
        self._lock = threading.Lock()

    def own(self) -> Interpreter:
        """The Python of this program, outside of any virtual environment."""
        base = str(getattr(sys, "_base_executable", "") or sys.executable)
        return Interpreter(
            path=base if Path(base).is_file() else sys.executable,
            version=sys.version_info[:3],
            implementation=sys.implementation.name,
            platform=sysconfig.get_platform(),
        )

    def find(self, manifest: WorkerManifest) -> Interpreter:
        """Our own if the worker supports it, else the newest that it supports. Raises T339."""
        own = self.own()
        if manifest.supports_python(own.version):
            return own
        versions = {own.version_text}
        # Unsuitable ones come last: they are executed only for the error message.
        for candidate in sorted(
            _candidates(),
            key=lambda candidate: (not _may_be_suitable(candidate, manifest), -candidate.minor),
        ):
            interpreter = self._probe(candidate.path)
            if interpreter is None:
                continue
            if manifest.supports_python(interpreter.version):
                return interpreter
            versions.add(interpreter.version_text)
        raise UserError(
            f"The worker {manifest.id} needs a Python {manifest.python}, "
            f"and none was found; available: {', '.join(sorted(versions))}.",
            remedy="Install such a Python on PATH, for example with pyenv.",
            code="T339",
        )

    def _probe(self, path: Path) -> Interpreter | None:
        stamp = file_stamp(path)
        if stamp is None:
            return None
        with self._lock:
            known = self._probed.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        interpreter = _run_probe(path)
        with self._lock:
            self._probed[path] = (stamp, interpreter)
        return interpreter


def _run_probe(path: Path) -> Interpreter | None:
    """None when it does not run, like the shims of version managers without a version."""
    try:
        answer = run_bounded(
            [path, "-I", "-S", "-c", _PROBE],
            limit_s=_PROBE_TIMEOUT_S,
            environment=bare_environment(),
        )
        if answer.exit_code != 0:
            return None
        return msgspec.json.decode(answer.output, type=Interpreter)
    except (OSError, msgspec.DecodeError):
        return None


def _candidates() -> Iterator[_Candidate]:
    for folder in os.get_exec_path():
        for path in _children(Path(folder)):
            named = _NAMED.match(path.name)
            if named:
                yield _Candidate(path, int(named[1]))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for path in _children(pyenv / "versions"):
        version = _IN_PYENV.match(path.name)
        if version:
            yield _Candidate(path / "bin" / "python", int(version[1]))


def _may_be_suitable(candidate: _Candidate, manifest: WorkerManifest) -> bool:
    """According to its name, which has no patch version."""
    return any(manifest.supports_python((3, candidate.minor, patch)) for patch in (0, 99))


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


prebuild_decoders(Interpreter)
