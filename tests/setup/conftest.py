"""A stand-in checkout: the real ./mosaic and setup/, tiny packages, real venv and pip."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WORKERS = ("echo_worker", "session_worker", "cleanrl_worker", "sweep_worker", "spade_bdi_rl_worker")

PROJECT = """\
[build-system]
requires = []
build-backend = "tiny_backend"
backend-path = ["."]

[project]
name = "{name}"
version = "1.0"
"""
PROGRAM = """\
import json, os, sys, time
import tiny_dependency
print(json.dumps({
    "arguments": sys.argv[1:],
    "dependency": tiny_dependency.VERSION,
    "python": list(sys.version_info[:2]),
}), flush=True)
while os.environ.get("TINY_PROGRAM_STAYS"):
    time.sleep(1)
"""
# These tests must not install system packages.
NO_QT = "def install_missing(print_status):\n    pass\n"
MAKE_VENV = '"-m", "venv"'


def load(path: Path) -> ModuleType:
    """Load a module that is not on the import path, such as those in setup/."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Checkout:
    """A stand-in checkout; `start` and `start_in_background` run its ./mosaic."""

    root: Path
    wheels: Path
    write_wheel: Callable[[Path, str, str, dict[str, str]], str]
    environ: dict[str, str]
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def log(self) -> Path:
        return self.root / ".venv-setup" / "install.log"

    def use_copied_venvs(self) -> None:
        """Copy environments instead of making them, and install two local packages of seven."""
        install, environment = (
            self.root / "setup" / name for name in ("install.py", "environment.py")
        )
        text = install.read_text("utf-8")
        assert MAKE_VENV in text
        install.write_text(text.replace(MAKE_VENV, repr(str(HERE / "copied_venv.py"))), "utf-8")
        text = environment.read_text("utf-8")
        shorter = re.sub(r'    "workers/\w+",\n', "", text)
        assert shorter != text
        environment.write_text(shorter, "utf-8")

    def use_real_venvs(self) -> None:
        """Set up exactly as a checkout of the repository does."""
        for name in ("install.py", "environment.py"):
            shutil.copy(REPOSITORY / "setup" / name, self.root / "setup" / name)

    def require(self, profile: str, *pins: str) -> None:
        text = "".join(f"{pin}\n" for pin in pins)
        (self.root / "requirements" / f"{profile}.txt").write_text(text, "utf-8")

    def offer(self, name: str, version: str) -> None:
        """Puts a package where pip finds it; two modules, so that half of it can be missing."""
        modules = {
            f"{name}/__init__.py": f"from {name}.second import VERSION\n",
            f"{name}/second.py": f"VERSION = {version!r}\n",
        }
        self.write_wheel(self.wheels, name, version, modules)

    def installed(self, name: str) -> list[Path]:
        return list(self.venv.glob(f"lib/python*/site-packages/{name}"))

    def start_in_background(self, **environ: str) -> subprocess.Popen[str]:
        """Starts it in a process group of its own, to be killed as a whole or in part."""
        process = subprocess.Popen(
            [self.root / "mosaic"],
            env=self.environ | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def start(
        self, *arguments: str, cwd: Path | None = None, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.root / "mosaic"), *arguments],
            cwd=cwd,
            env=self.environ | environ,
            check=False,
            capture_output=True,
            text=True,
        )

    def works(self, cwd: Path | None = None, **environ: str) -> dict[str, Any]:
        """Starts it, expects success, and returns the one document on its stdout."""
        finished = self.start(cwd=cwd, **environ)
        assert finished.returncode == 0, finished.stderr
        answer: dict[str, Any] = json.loads(finished.stdout)
        return answer

    def kill_all(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self.processes.clear()

    def bash(self, script: str) -> subprocess.CompletedProcess[str]:
        """Runs a script of the kind that sources setup/launch.sh."""
        text = f'set -euo pipefail; root=$1; source "$root/setup/launch.sh"; {script}'
        return subprocess.run(
            ["bash", "-c", text, "a script", self.root],
            env=self.environ,
            check=False,
            capture_output=True,
            text=True,
        )


@dataclass
class Gate:
    """Where an installation stops in the middle until the test opens it."""

    path: Path

    def __post_init__(self) -> None:
        self.path.touch()

    def wait_until_reached(self) -> None:
        wait_for(Path(f"{self.path}.reached").exists)

    def open(self) -> None:
        self.path.unlink()


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def tiny_backend() -> ModuleType:
    return load(HERE / "tiny_backend.py")


def make_checkout(folder: Path, write_wheel: Callable[..., str]) -> Checkout:
    """A stand-in checkout with a space in its path; nothing is set up yet."""
    root, wheels = folder / "a checkout", folder / "wheels"
    wheels.mkdir()
    no_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "setup", root / "setup", ignore=no_caches)
    shutil.copy(REPOSITORY / "mosaic", root / "mosaic")
    (root / "setup" / "qt_libraries.py").write_text(NO_QT, "utf-8")
    (root / "requirements").mkdir()
    packages = {
        ".": "mosaic",
        "worker_sdk": "mosaic_worker",
        **{f"workers/{worker}": worker for worker in WORKERS},
    }
    for place, package in packages.items():
        (root / place / "src" / package).mkdir(parents=True)
        (root / place / "pyproject.toml").write_text(PROJECT.format(name=package), "utf-8")
        shutil.copy(HERE / "tiny_backend.py", root / place)
    program = root / "src" / "mosaic" / "cli" / "main.py"
    program.parent.mkdir()
    program.write_text(PROGRAM, "utf-8")

    ours = ("PIP_", "MOSAIC_PYTHON", "PYTHONPATH")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environ |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    made = Checkout(root, wheels, write_wheel, environ)
    for version in ("1.0", "2.0"):
        made.offer("tiny_dependency", version)
    made.require("base", "tiny_dependency==1.0")
    made.use_copied_venvs()
    return made


@pytest.fixture
def checkout(tmp_path: Path, tiny_backend: ModuleType) -> Iterator[Checkout]:
    """A fresh stand-in checkout."""
    made = make_checkout(tmp_path, tiny_backend.write_wheel)
    yield made
    made.kill_all()


@pytest.fixture(scope="module")
def shared_checkout(
    tmp_path_factory: pytest.TempPathFactory, tiny_backend: ModuleType
) -> Iterator[Checkout]:
    made = make_checkout(tmp_path_factory.mktemp("shared"), tiny_backend.write_wheel)
    yield made
    made.kill_all()


@pytest.fixture
def ready(shared_checkout: Checkout) -> Iterator[Checkout]:
    """A stand-in checkout that is set up; shared, because making one takes seconds."""
    shared_checkout.require("base", "tiny_dependency==1.0")
    shared_checkout.works()
    shared_checkout.log.unlink(missing_ok=True)  # there again when pip ran again
    yield shared_checkout
    shared_checkout.kill_all()


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


@pytest.fixture(scope="session")
def qt_libraries() -> ModuleType:
    return load(REPOSITORY / "setup" / "qt_libraries.py")


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def pythons() -> dict[str, str]:
    """The supported versions that really run here, with a path to each."""
    found = {}
    versions_folder = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser() / "versions"
    for version in ("3.11", "3.12", "3.13"):
        installed = sorted(versions_folder.glob(f"{version}.*/bin/python{version}"))
        for candidate in (*installed, shutil.which(f"python{version}")):
            if (
                candidate
                and subprocess.run(
                    [candidate, "-c", "import venv, ensurepip"], check=False, capture_output=True
                ).returncode
                == 0
            ):
                found[version] = str(candidate)
                break
    return found
