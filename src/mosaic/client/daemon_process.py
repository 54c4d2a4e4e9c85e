"""Starts the daemon of a home in the background, and stops it.

Called by `TrainerClient.connect(start=True)` and by `mosaic daemon start|stop`.
"""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from mosaic.client.connection import Connection, backoff_delays_s
from mosaic.client.daemon_address import HomeAddress
from mosaic.client.daemon_api import DaemonApi
from mosaic.client.errors import (
    DaemonStartError,
    DaemonStopError,
    DaemonUnreachableError,
    TrainerError,
)
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.contract.readiness import DaemonHealth

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
_ERROR_PREFIX = "error "
_MAX_OUTPUT_LINES = 15


class _StartFailure(msgspec.Struct):
    """The error that the daemon reports if it cannot start."""

    message: str
    remedy: str = ""
    code: str = ""


def start_daemon(
    home: Home, options: Sequence[str] = (), *, timeout_s: float = START_TIMEOUT_S
) -> DaemonHealth:
    """Start a daemon for `home` unless one runs already; concurrent callers get the same daemon.

    `options` are those of `mosaic daemon run`. Raises `DaemonStartError` with the daemon's output.
    """
    running = probe(home)
    if running is not None:
        return running
    deadline = time.monotonic() + timeout_s
    log = _create_start_log(home)
    report = _spawn(home, options, log, deadline)
    if report.startswith(_ERROR_PREFIX):
        error = msgspec.json.decode(report.removeprefix(_ERROR_PREFIX), type=_StartFailure)
        if error.code != "T382":  # another daemon already serves this home
            raise DaemonStartError(error.message, remedy=error.remedy, code=error.code)
    elif not report:
        raise DaemonStartError(
            f"The daemon of {home.path} did not start.{_last_output(log)}",
            remedy="Run `mosaic daemon run` to start it in the foreground and see its output.",
        )
    # It is ready, or another daemon started first and is about to be ready.
    health = _wait_for_daemon(home, deadline)
    if health is None:
        raise DaemonStartError(
            f"The daemon of {home.path} does not answer after {timeout_s:g} s.",
            remedy="See logs/daemon.log in the home.",
        )
    return health


def stop_daemon(home: Home, *, timeout_s: float = STOP_TIMEOUT_S) -> int | None:
    """Stop the daemon of `home` and wait until its process has ended; runs keep running.

    Returns how many runs it left running, None if no daemon was running.
    """
    endpoint = Endpoint.read(home.endpoint)
    if endpoint is None:
        return None
    process = ProcessIdentity(endpoint.pid, endpoint.start_ticks, endpoint.boot_id)
    if not process.is_alive():
        return None
    runs_left = 0
    try:
        runs_left = _shut_down(home)
    except TrainerError:
        # It no longer listens, or not yet; the process still handles SIGTERM.
        process.send(signal.SIGTERM)
    if process.wait(timeout_s):
        return runs_left
    raise DaemonStopError(
        f"The daemon (process {endpoint.pid}) is still running after {timeout_s:g} s.",
        remedy=f"Try again, or run `kill -9 {endpoint.pid}`; runs keep running either way.",
    )


def probe(home: Home) -> DaemonHealth | None:
    """Return the health of the daemon of `home`, None if none answers."""
    connection = Connection(HomeAddress(home))
    try:
        return DaemonApi(connection, 0.0).health()
    except DaemonUnreachableError:
        return None
    finally:
        connection.close()


def _shut_down(home: Home) -> int:
    connection = Connection(HomeAddress(home))
    try:
        return DaemonApi(connection, 0.0).shutdown()
    finally:
        connection.close()


def _create_start_log(home: Home) -> Path:
    try:
        home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
        home.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise DaemonStartError(
            f"The home {home.path} cannot be created: {error.strerror}.",
            remedy="Choose another folder with --home DIR or MOSAIC_HOME.",
        ) from error
    return home.logs / "daemon-start.log"


def _spawn(home: Home, options: Sequence[str], log: Path, deadline: float) -> str:
    """Start the process and return the line in which it reports the result, '' if none."""
    command = [sys.executable, "-P", "-m", "mosaic.trainer.daemon", "--home", str(home.path)]
    ready, announce = os.pipe()
    try:
        try:
            with log.open("wb") as output:
                process = subprocess.Popen(
                    [*command, "--ready-fd", str(announce), *options],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(announce,),
                    start_new_session=True,
                    cwd=home.path,
                )
        except OSError as error:
            raise DaemonStartError(
                f"The daemon could not be started: {error}.", remedy="Run `mosaic doctor`."
            ) from error
        finally:
            os.close(announce)
        # The caller may outlive the daemon and must not keep a zombie process.
        threading.Thread(target=process.wait, name="daemon-reaper", daemon=True).start()
        return _read_line(ready, deadline)
    finally:
        os.close(ready)


def _read_line(descriptor: int, deadline: float) -> str:
    """Read one line; '' if the other side closed without one, or at the deadline."""
    line = b""
    while not line.endswith(b"\n"):
        remaining_s = max(0.0, deadline - time.monotonic())
        if not select.select([descriptor], [], [], remaining_s)[0]:
            return ""
        data = os.read(descriptor, 65536)
        if not data:
            return ""
        line += data
    return line.decode(errors="replace").strip()


def _wait_for_daemon(home: Home, deadline: float) -> DaemonHealth | None:
    """Probe until a daemon answers; None at the deadline."""
    for delay_s in backoff_delays_s():
        with suppress(UserError):  # a daemon that is starting has not written all files yet
            health = probe(home)
            if health is not None:
                return health
        if time.monotonic() > deadline:
            break
        time.sleep(delay_s)
    return None


def _last_output(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if not lines:
        return ""
    return "\nIts last output:\n" + "\n".join(f"  {line}" for line in lines[-_MAX_OUTPUT_LINES:])
