"""The life of the daemon's process: from its lock to its last line.

Runs outlive it: it is stopped by SIGTERM, SIGINT or the call `Shutdown`, and the next one takes
them up again.
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
from mosaic.trainer.daemon.listening import Listening, listen
from mosaic.trainer.daemon.startup import DaemonLog, ReadinessPipe
from mosaic.trainer.processes.process_identity import ProcessIdentity
from mosaic.trainer.service.access_token import load_token
from mosaic.trainer.service.server import TrainerServer
from mosaic.trainer.settings import DaemonSettings
from mosaic.trainer.trainer import Trainer

_log = logging.getLogger(__name__)

_MOST = 65_536
"""Programs that a worker starts may go through all numbers up to the limit, which they inherit."""


def raise_file_limit() -> int:
    """Raise the soft limit as far as the hard one allows; what it is then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:
        _log.warning("T358 no more than %d files may be open at once: %s", soft, error)
        return soft
    _log.info("T359 up to %d files may be open at once, instead of %d", wanted, soft)
    return wanted


class AnotherDaemonError(UserError):
    """A daemon of this home runs already."""

    def __init__(self, home: Home, pid: str, address: str) -> None:
        where = f" at {address}" if address else ""
        super().__init__(
            f"A trainer daemon (process {pid or 'unknown'}) serves the home {home.path}{where}.",
            remedy="Use that one, stop it with `mosaic daemon stop`, or choose another --home.",
            code="T382",
        )


@contextmanager
def only_instance(home: Home) -> Iterator[None]:
    """Holds the lock of the home. Raises `AnotherDaemonError` when another process does."""
    descriptor = _open(home.daemon_lock)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AnotherDaemonError(home, _pid_in(descriptor), _address(home)) from None
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
    """Serves the home until told to stop. Raises `UserError` when it cannot begin."""
    raise_file_limit()
    with only_instance(home):
        token = load_token(home.token)
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
    # Before the trainer opens: no run is started by a daemon that nobody can reach.
    listening = listen(server, settings)
    trainer = await Trainer.open(home, settings)
    try:
        log.redact_with(trainer.secrets.redact)
        await server.serve(trainer, address=listening.address, shut_down=stop.set)
        _endpoint(listening).write(home.endpoint)
        _log.info("T395 the daemon serves %s at %s", home.path, listening.address)
        readiness.ready(listening.address)
        await stop.wait()
        _log.info("T396 the daemon stops; its runs go on")
    finally:
        await server.stop()
        await trainer.close()
        home.endpoint.unlink(missing_ok=True)


def _endpoint(listening: Listening) -> Endpoint:
    identity = ProcessIdentity.of(os.getpid())
    if identity is None:
        raise UserError(
            "The daemon cannot see its own process in /proc.",
            remedy="Mount /proc; runs could not be told apart without it.",
            code="T397",
        )
    return Endpoint(
        address=listening.address,
        pid=identity.pid,
        start_ticks=identity.start_ticks,
        boot_id=identity.boot_id,
        version=mosaic.__version__,
        started_at=time.time(),
        certificate=listening.certificate,
    )


def _on_unhandled(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    _log.error(
        "T394 the event loop met an error that nobody handled: %s",
        context.get("message"),
        exc_info=context.get("exception"),
    )
