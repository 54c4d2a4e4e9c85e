"""The life of the daemon's process: from its lock to its last line.

Runs outlive it: it is stopped by SIGTERM, SIGINT or the call `Shutdown`, and the next one takes
them up again.
"""

import asyncio
import logging
import os
import signal
import time
from typing import Any

import mosaic
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.daemon.access_token import load_token
from mosaic.trainer.daemon.file_limit import raise_file_limit
from mosaic.trainer.daemon.instance import only_instance
from mosaic.trainer.daemon.listening import Listening, listen
from mosaic.trainer.daemon.log_files import DaemonLog
from mosaic.trainer.daemon.readiness_pipe import ReadinessPipe
from mosaic.trainer.processes.process_identity import ProcessIdentity
from mosaic.trainer.service.server import TrainerServer
from mosaic.trainer.settings import DaemonSettings
from mosaic.trainer.trainer import Trainer

_log = logging.getLogger(__name__)


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
