"""Building a virtual environment: Python's `venv`, then pip, with progress, undone when it fails.

Called by the bundle store, which holds the lock of the environment.
"""

import logging
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import InstallPhase, InstallProgress
from mosaic.trainer.bundles.bundle_recipe import BundleRecipe
from mosaic.trainer.bundles.errors import (
    environment_failed,
    installation_cancelled,
    installation_failed,
)
from mosaic.trainer.bundles.install_lock import HeldLock, OnProgress
from mosaic.trainer.bundles.pip import (
    PipProgress,
    install_options,
    own_pip,
    pip_environment,
    pip_inside,
)
from mosaic.trainer.bundles.virtual_envs import (
    VirtualEnv,
    VirtualEnvRecord,
    VirtualEnvs,
    site_packages,
)
from mosaic.trainer.processes.watched_process import Stream, run_watched

_MAX_OUTPUT_LINES = 400

_log = logging.getLogger(__name__)


def build_virtual_env(
    recipe: BundleRecipe,
    environments: VirtualEnvs,
    home: Home,
    lock: HeldLock,
    on_progress: OnProgress,
    cancelled: threading.Event,
) -> VirtualEnv:
    """Build the environment, replacing an existing one.

    When it fails or is cancelled, the previous state is restored.
    Raises `UserError`, also when it is cancelled.
    """
    scratch = environments.scratch(recipe.key)
    log_path = home.logs / f"bundle-{recipe.name}.log"
    started = time.monotonic()

    def report_progress(progress: InstallProgress) -> None:
        lock.report(progress)
        on_progress(progress)

    try:
        environments.recover(recipe.key)
        scratch.mkdir(mode=0o700)
        home.logs.mkdir(parents=True, exist_ok=True)
        environments.set_aside(recipe.key)
        with _open_log(log_path) as log:
            installation = _Installation(
                recipe, scratch, lock, log, log_path, report_progress, cancelled
            )
            environment = installation.make(environments)
    except OSError as error:
        raise environment_failed(recipe.name, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        environments.recover(recipe.key)
    _log.info(
        "T330 bundle %s installed in %.1f s: %d packages",
        recipe.key,
        time.monotonic() - started,
        len(environment.record.packages),
    )
    return environment


def _open_log(path: Path) -> IO[bytes]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    return os.fdopen(descriptor, "wb", buffering=0)


class _Installation:
    """One installation."""

    def __init__(
        self,
        recipe: BundleRecipe,
        scratch: Path,
        lock: HeldLock,
        log: IO[bytes],
        log_path: Path,
        report_progress: OnProgress,
        cancelled: threading.Event,
    ) -> None:
        self._recipe = recipe
        self._scratch = scratch
        self._lock = lock
        self._log = log
        self._log_path = log_path
        self._on_progress = report_progress
        self._cancelled = cancelled

    def make(self, environments: VirtualEnvs) -> VirtualEnv:
        recipe = self._recipe
        path = environments.path(recipe.key)
        self._report("preparing", f"Creating an environment with {recipe.interpreter.path}")
        self._make_venv(path)
        if recipe.packages:
            self._install(path)
        self._report("checking", "Checking the installation", done=recipe.packages)
        record = VirtualEnvRecord(
            name=recipe.name,
            hash=recipe.hash,
            extras=recipe.extras,
            python=recipe.interpreter.version_text,
            created_at=time.time(),
        )
        problem = environments.problem(VirtualEnv(path, record))
        if problem:
            raise environment_failed(recipe.name, OSError(problem))
        return environments.finish(path, record)

    def _make_venv(self, path: Path) -> None:
        python = self._recipe.interpreter.path
        output: deque[str] = deque(maxlen=_MAX_OUTPUT_LINES)
        command = [python, "-I", "-m", "venv", "--without-pip", str(path)]
        if self._run(command, output.append) != 0:
            raise UserError(
                f"{python} cannot create a virtual environment: {' | '.join(list(output)[-3:])}",
                remedy="Install its `venv` module; Debian and Ubuntu have it in python3-venv.",
                code="T326",
            )

    def _install(self, path: Path) -> None:
        recipe = self._recipe
        python = path / "bin" / "python"
        own = own_pip(recipe.interpreter, python)
        if own is None:
            self._install_pip(python)
        requirements = self._scratch / "requirements.txt"
        requirements.write_text("\n".join(recipe.lines) + "\n", encoding="utf-8")
        output: deque[str] = deque(maxlen=_MAX_OUTPUT_LINES)
        progress = PipProgress(recipe.packages, self._on_progress)
        site = site_packages(path)

        def handle_output(line: str) -> None:
            output.append(line)
            progress.handle_line(line)

        self._report("downloading", "Collecting packages")
        options = install_options(requirements, is_own_pip=own is not None)
        command = [*(own or pip_inside(python)), *options]
        if self._run(command, handle_output, lambda: progress.poll(site)) != 0:
            raise installation_failed(recipe.name, list(output), self._log_path)

    def _install_pip(self, python: Path) -> None:
        output: deque[str] = deque(maxlen=_MAX_OUTPUT_LINES)
        if self._run([str(python), "-I", "-m", "ensurepip"], output.append) != 0:
            raise UserError(
                f"{python} has no pip, and it cannot be installed: {' | '.join(list(output)[-3:])}",
                remedy="Install pip for the Python that runs MOSAIC, or the system's python3-venv.",
                code="T335",
            )

    def _run(
        self,
        command: Sequence[str],
        on_line: Callable[[str], None],
        on_poll: Callable[[], None] = lambda: None,
    ) -> int:
        """The exit code. The program holds the lock, so that it is noticed if it outlives us."""
        lines = _LineSplitter(on_line)

        def handle_output(_stream: Stream, data: bytes) -> None:
            self._log.write(data)
            lines.handle_output(data)

        def may_continue() -> bool:
            on_poll()
            return not self._cancelled.is_set()

        exit_code = run_watched(
            command,
            cwd=self._recipe.folder,
            environment=pip_environment(self._scratch),
            on_output=handle_output,
            may_continue=may_continue,
            on_start=self._lock.started,
            keep_open=[self._lock.descriptor],
        )
        if exit_code is None:
            raise installation_cancelled()
        return exit_code

    def _report(self, phase: InstallPhase, message: str, done: int = 0) -> None:
        if self._cancelled.is_set():
            raise installation_cancelled()
        total = self._recipe.packages
        self._on_progress(InstallProgress(phase=phase, message=message, done=done, total=total))


class _LineSplitter:
    """Splits a byte stream into lines."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._rest = b""

    def handle_output(self, data: bytes) -> None:
        *complete, self._rest = (self._rest + data).split(b"\n")
        for line in complete:
            self._on_line(line.decode("utf-8", "replace").rstrip())
