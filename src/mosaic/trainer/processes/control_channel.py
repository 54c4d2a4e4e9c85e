"""Control commands to a worker, through the FIFO that is its stdin."""

import errno
import os
import stat

from mosaic.contract.control import ControlCommand, encode_command
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.run_process import Running, observe


class ControlChannelFullError(UserError):
    """The worker does not read its commands (gRPC: RESOURCE_EXHAUSTED)."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id} does not read its commands: its control channel is full.",
            remedy="Wait until the worker has caught up, resume it if it is paused, or stop it.",
            code="T121",
        )


def worker_not_running(run_id: str) -> UserError:
    return UserError(
        f"Run {run_id} does not accept commands: its worker is not running.",
        remedy="Send commands between the start and the end of a run, or start a new run.",
        code="T122",
    )


def send_command(run_dir: RunDirectory, command: ControlCommand) -> None:
    """Write the command completely or not at all, and never block.

    Raises `DocumentError` for a command that cannot be a line, `ControlChannelFullError`, and
    `UserError` when the worker is not running. Safe from any thread and from several processes
    at once.
    """
    line = encode_command(command)
    process = observe(run_dir)
    if not (isinstance(process, Running) and process.worker.is_alive()):
        raise worker_not_running(run_dir.run_id)
    try:
        _write(run_dir, line)
    except BlockingIOError:
        raise ControlChannelFullError(run_dir.run_id) from None
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENXIO, errno.EPIPE):
            raise worker_not_running(run_dir.run_id) from None
        raise


def _write(run_dir: RunDirectory, line: bytes) -> None:
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        channel = os.open(run_dir.control, flags)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR):
            raise _not_a_channel(run_dir) from error
        raise
    try:
        if not stat.S_ISFIFO(os.fstat(channel).st_mode):
            raise _not_a_channel(run_dir)
        os.write(channel, line)
    finally:
        os.close(channel)


def _not_a_channel(run_dir: RunDirectory) -> UserError:
    return UserError(
        f"{run_dir.control} is not the control channel of a worker: it is not a FIFO.",
        remedy="Something replaced it. Stop the run and start a new one.",
        code="T123",
    )
