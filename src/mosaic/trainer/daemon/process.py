"""The daemon's process: takes the lock of the home, serves, and stops.

SIGTERM, SIGINT or the call `Shutdown` stop it. Runs outlive it, and the next daemon reattaches to
them.
"""

import asyncio
import fcntl
import logging
import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mosaic
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.trainer.daemon.disk_reserve import fill_reserve
from mosaic.trainer.daemon.listening import BoundAddress, listen
from mosaic.trainer.daemon.startup import DaemonLog, ReadinessPipe
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.processes.child_processes import become_subreaper
from mosaic.trainer.service.server import TrainerServer, issue_token
from mosaic.trainer.trainer import Trainer

_log = logging.getLogger(__name__)

_MAX_OPEN_FILES = 65_536
"""Child processes inherit the limit, and some of them loop over all numbers up to it."""


def raise_file_limit() -> int:
    """Raise the soft limit of open files as far as the hard one allows; returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    new_limit = _MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= new_limit:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (new_limit, hard))
    except (OSError, ValueError) as error:
        _log.warning("T358 the limit of open files stays at %d: %s", soft, error)
        return soft
    _log.info("T359 the limit of open files is now %d, was %d", new_limit, soft)
    return new_limit


@contextmanager
def only_instance(home: Home) -> Iterator[None]:
    """Hold the lock of the home, which the kernel releases when the process ends.

    Raises `UserError` T382 when another daemon holds it.
    """
    descriptor = _open(home.daemon_lock)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            address = _address(home)
            where = f" at {address}" if address else ""
            raise UserError(
                f"A trainer daemon (process {_pid_in(descriptor) or 'unknown'}) serves the home"
                f" {home.path}{where}.",
                remedy="Use that one, stop it with `mosaic daemon stop`, or choose another --home.",
                code="T382",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UserError(
            f"{path} cannot be opened: {error.strerror}.",
            remedy="Make the home writable for this user, or choose another one with --home.",
            code="T383",
        ) from error


def _pid_in(descriptor: int) -> str:
    text = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    return text if text.isdigit() else ""


def _address(home: Home) -> str:
    try:
        endpoint = Endpoint.read(home.endpoint)
    except UserError:
        return ""
    return endpoint.address if endpoint else ""


def run_daemon(
    home: Home, settings: DaemonSettings, log: DaemonLog, readiness: ReadinessPipe
) -> None:
    """Serve the home until a stop is requested. Raises `UserError` when it cannot start."""
    raise_file_limit()
    become_subreaper()
    with only_instance(home):
        token = issue_token(home.token)
        asyncio.run(_serve(home, settings, token, log, readiness))


async def _serve(
    home: Home, settings: DaemonSettings, token: str, log: DaemonLog, readiness: ReadinessPipe
) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_on_unhandled)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = TrainerServer(token, log.redact)
    # Before the trainer opens: an unreachable daemon must not start runs.
    listening = listen(server, settings, home)
    try:
        await _serve_at(listening, server, home, settings, log, readiness, stop)
    finally:
        listening.close()


async def _serve_at(
    listening: BoundAddress,
    server: TrainerServer,
    home: Home,
    settings: DaemonSettings,
    log: DaemonLog,
    readiness: ReadinessPipe,
    stop: asyncio.Event,
) -> None:
    trainer = await Trainer.open(home, settings)
    try:
        log.redact_with(trainer.secrets.redact)
        await server.serve(trainer, address=listening.address, shut_down=stop.set)
        _endpoint(listening).write(home.endpoint)
        fill_reserve(home)
        _log.info("T395 the daemon serves %s at %s", home.path, listening.address)
        readiness.ready(listening.address)
        await stop.wait()
        _log.info("T396 the daemon stops; its runs continue")
    finally:
        # First: while the file exists, clients send the token to that address.
        home.endpoint.unlink(missing_ok=True)
        fill_reserve(home)
        await server.stop()
        await trainer.close()


def _endpoint(listening: BoundAddress) -> Endpoint:
    identity = ProcessIdentity.of(os.getpid())
    if identity is None:
        raise UserError(
            "The daemon cannot see its own process in /proc.",
            remedy="Mount /proc; processes of runs cannot be identified without it.",
            code="T397",
        )
    return Endpoint(
        address=listening.recorded_address,
        pid=identity.pid,
        start_ticks=identity.start_ticks,
        boot_id=identity.boot_id,
        version=mosaic.__version__,
        started_at=time.time(),
        certificate=listening.certificate,
    )


def _on_unhandled(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    _log.error(
        "T394 unhandled error in the event loop: %s",
        context.get("message"),
        exc_info=context.get("exception"),
    )
