"""The checks of `mosaic doctor`, one function each. They need no daemon, but import gRPC."""

import ctypes
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from packaging.requirements import Requirement

from mosaic import __version__
from mosaic.cli.doctor import Finding, Status
from mosaic.client.daemon_process import probe
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_size
from mosaic.contract.layout import Home
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.daemon_settings import DEFAULT_PORT, DaemonSettings, load_settings
from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.secrets.secret_files import read_env_file
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_infos import worker_infos
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS

_MIN_PYTHON = (3, 11)
_DISTRIBUTION = "mosaic-workbench"
_LOW_DISK_BYTES = 5_000_000_000
_QT_LIBRARIES = (
    "libEGL.so.1",
    "libGL.so.1",
    "libX11.so.6",
    "libglib-2.0.so.0",
    "libdbus-1.so.3",
    "libfontconfig.so.1",
    "libfreetype.so.6",
    "libxkbcommon.so.0",
)


def run_checks(home: Home) -> Iterator[Finding]:
    """Run all checks in order; a check that raises is a finding, too."""
    for check in _CHECKS:
        try:
            yield from check(home)
        except UserError as error:
            yield Finding(
                check=check.__name__.strip("_").replace("_", " "),
                status="problem",
                message=error.message,
                remedy=error.remedy,
            )


def _python(_: Home) -> Iterator[Finding]:
    version = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < _MIN_PYTHON:
        remedy = "Install Python 3.11 or later, and run ./mosaic again."
        yield Finding(check="python", status="problem", message=version, remedy=remedy)
    else:
        yield Finding(check="python", status="ok", message=version)


def _packages(_: Home) -> Iterator[Finding]:
    problems = list(_package_problems())
    if problems:
        remedy = "Run ./mosaic in the checkout to install the packages."
        message = ", ".join(problems)
        yield Finding(check="packages", status="problem", message=message, remedy=remedy)
    else:
        yield Finding(check="packages", status="ok", message="all installed in compatible versions")


def _package_problems() -> Iterator[str]:
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return  # run from sources on the path, without an installed distribution
    for requirement in map(Requirement, required):
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            yield f"{requirement.name} is missing"
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            yield f"{requirement.name} is {version}, but {requirement.specifier} is required"


def _home(home: Home) -> Iterator[Finding]:
    existing = home.path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        yield Finding(
            check="home",
            status="problem",
            message=f"{home.path} is not writable.",
            remedy="Choose another directory with --home DIR, or set MOSAIC_HOME.",
        )
        return
    yield Finding(check="home", status="ok", message=str(home.path))


def _disk(home: Home) -> Iterator[Finding]:
    free = Machine().disk_free_bytes(home.path)
    settings = DaemonSettings()
    with suppress(UserError):  # reported by the check of the settings
        settings = load_settings(home.settings, {})
    min_bytes = settings.min_free_disk_mb << 20
    status: Status = (
        "problem" if free < min_bytes else "warning" if free < _LOW_DISK_BYTES else "ok"
    )
    yield Finding(
        check="disk",
        status=status,
        message=f"{format_size(free)} free",
        remedy=""
        if status == "ok"
        else "Delete runs or bundles, or choose a home on another disk.",
    )


def _settings(home: Home) -> Iterator[Finding]:
    load_settings(home.settings, {})
    message = f"{home.settings}" if home.settings.exists() else "defaults (no settings.toml)"
    yield Finding(check="settings", status="ok", message=message)


def _secrets(home: Home) -> Iterator[Finding]:
    problem = read_env_file(home.secrets, private=True).problem
    if problem is not None:
        yield Finding(
            check="secrets", status="problem", message=problem.message, remedy=problem.remedy
        )
    elif home.secrets.exists():
        yield Finding(check="secrets", status="ok", message="file readable only by you")
    else:
        yield Finding(check="secrets", status="ok", message="none stored")


def _daemon(home: Home) -> Iterator[Finding]:
    health = probe(home)
    if health is None:
        message = "not running; `mosaic train` and `mosaic demo` start it"
        yield Finding(check="daemon", status="ok", message=message)
        with suppress(UserError):  # reported by the check of the settings
            if load_settings(home.settings, {}).uses_tcp:
                yield from _port()
        return
    message = f"process {health.pid} at {health.address}, version {health.version}"
    if health.version != __version__:
        remedy = "Run `mosaic daemon stop`, then `mosaic daemon start`. Runs keep running."
        message += f"; this program is {__version__}"
        yield Finding(check="daemon", status="warning", message=message, remedy=remedy)
    else:
        yield Finding(check="daemon", status="ok", message=message)
    for problem in health.problems:
        yield Finding(check="daemon", status="warning", message=problem)


def _port() -> Iterator[Finding]:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", DEFAULT_PORT))
        except OSError:
            message = f"{DEFAULT_PORT} is in use; the daemon will use another port"
        else:
            message = f"{DEFAULT_PORT} is free"
    yield Finding(check="port", status="ok", message=message)


def _machine(_: Home) -> Iterator[Finding]:
    machine = Machine()
    message = f"{machine.cpus()} CPUs, {machine.memory_mb():,} MB of memory"
    yield Finding(check="machine", status="ok", message=message)
    search = machine.gpu_search()
    names = ", ".join(f"{gpu.name} ({gpu.memory_mb:,} MB)" for gpu in search.gpus)
    yield Finding(check="GPU", status="ok", message=names or f"none: {search.reason}")


def _workers(home: Home) -> Iterator[Finding]:
    folders: tuple[Path, ...] = ()
    with suppress(UserError):  # reported by the check of the settings
        folders = load_settings(home.settings, {}).own_worker_folders
    for folder in folders:
        if not folder.is_dir():
            yield Finding(
                check="workers",
                status="warning",
                message=f"{folder} does not exist",
                remedy=f"Create the folder, or correct `worker_folders` in {home.settings}.",
            )
    catalog = WorkerCatalog((CHECKOUT_WORKERS, *folders))
    infos = worker_infos(catalog, BundleStore(home, catalog))
    if not infos:
        yield Finding(
            check="workers",
            status="warning",
            message="none found",
            remedy="Create one with `mosaic workers new NAME`; see docs/writing-a-worker.md.",
        )
    for info in infos:
        name = f"worker {info.worker_id}"
        if info.problem:
            yield Finding(check=name, status="warning", message=info.problem, remedy=info.remedy)
        elif info.ready:
            yield Finding(check=name, status="ok", message="ready")
        else:
            message = f"the first run installs its bundle {info.bundle}"
            remedy = f"Install it now: `mosaic bundles install {info.bundle}`."
            yield Finding(check=name, status="ok", message=message, remedy=remedy)


def _window(_: Home) -> Iterator[Finding]:
    if importlib.util.find_spec("PySide6") is None:
        message = "PySide6 is not installed; everything but the window works"
        yield Finding(check="window", status="ok", message=message)
        return
    missing = [name for name in _QT_LIBRARIES if not _is_loadable(name)]
    if missing:
        has_apt = shutil.which("apt-get") is not None
        yield Finding(
            check="window",
            status="warning",
            message=f"system libraries are missing: {', '.join(missing)}",
            remedy="Run ./mosaic as root to install them." if has_apt else "Install them.",
        )
    else:
        yield Finding(
            check="window", status="ok", message="all system libraries of Qt are installed"
        )


def _is_loadable(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


_CHECKS: tuple[Callable[[Home], Iterator[Finding]], ...] = (
    _python,
    _packages,
    _home,
    _disk,
    _settings,
    _secrets,
    _daemon,
    _machine,
    _workers,
    _window,
)
