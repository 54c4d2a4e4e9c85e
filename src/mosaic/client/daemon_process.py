"""Starting the daemon of a home in the background, and stopping it.

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

from mosaic.client.connection import Connection, growing_pauses
from mosaic.client.daemon_address import HomeAddress
from mosaic.client.daemon_calls import DaemonCalls
from mosaic.client.errors import (
    DaemonStartError,
    DaemonStopError,
    DaemonUnreachableError,
    TrainerError,
)
from mosaic.client.process_handle import ProcessHandle
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import DaemonHealth

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
_ERROR = "error "
_LAST_LINES = 15


class _StartFailure(msgspec.Struct):
    """What the daemon says when it cannot begin."""

    message: str
    remedy: str = ""
    code: str = ""


def start_daemon(
    home: Home, options: Sequence[str] = (), *, timeout_s: float = START_TIMEOUT_S
) -> DaemonHealth:
    """Make sure that a daemon runs for `home`; when two ask at once, both get the same one.

    `options` are those of `mosaic daemon run`. Raises `DaemonStartError` with its last words.
    """
    running = probe(home)
    if running is not None:
        return running
    deadline = time.monotonic() + timeout_s
    log = _start_log(home)
    said = _spawn(home, options, log, deadline)
    if said.startswith(_ERROR):
        error = msgspec.json.decode(said.removeprefix(_ERROR), type=_StartFailure)
        if error.code != "T382":  # which says that another one serves this home
            raise DaemonStartError(error.message, remedy=error.remedy, code=error.code)
    elif not said:
        raise DaemonStartError(
            f"The daemon of {home.path} did not start.{_last_words(log)}",
            remedy="`mosaic daemon run` starts it in the foreground and shows all that it says.",
        )
    # It is ready, or another one was faster and is about to be.
    health = _await_answer(home, deadline)
    if health is None:
        raise DaemonStartError(
            f"The daemon of {home.path} does not answer after {timeout_s:g} s.",
            remedy="Look at logs/daemon.log in the home.",
        )
    return health


def stop_daemon(home: Home, *, timeout_s: float = STOP_TIMEOUT_S) -> int | None:
    """Stop the daemon of `home` and wait until its process is gone; runs go on.

    Returns how many runs it left running, None when there was no daemon.
    """
    endpoint = Endpoint.read(home.endpoint)
    if endpoint is None:
        return None
    with ProcessHandle.open(endpoint.pid, endpoint.start_ticks, endpoint.boot_id) as process:
        if process is None:
            return None
        runs_left = 0
        try:
            runs_left = _shut_down(home)
        except TrainerError:
            # It does not listen any more, or not yet; the process itself still understands this.
            process.send(signal.SIGTERM)
        if process.wait(timeout_s):
            return runs_left
    raise DaemonStopError(
        f"The daemon (process {endpoint.pid}) is still there after {timeout_s:g} s.",
        remedy=f"Try again, or end it with `kill -9 {endpoint.pid}`; runs go on either way.",
    )


def probe(home: Home) -> DaemonHealth | None:
    """How the daemon of `home` is; None when none answers."""
    connection = Connection(HomeAddress(home))
    try:
        return DaemonCalls(connection, 0.0).health()
    except DaemonUnreachableError:
        return None
    finally:
        connection.close()


def _shut_down(home: Home) -> int:
    connection = Connection(HomeAddress(home))
    try:
        return DaemonCalls(connection, 0.0).shutdown()
    finally:
        connection.close()


def _start_log(home: Home) -> Path:
    try:
        home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
        home.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise DaemonStartError(
            f"The home {home.path} cannot be made: {error.strerror}.",
            remedy="Choose another place with --home DIR, or set MOSAIC_HOME.",
        ) from error
    return home.logs / "daemon-start.log"


def _spawn(home: Home, options: Sequence[str], log: Path, deadline: float) -> str:
    """Starts the process; returns the one line in which it says how that went, '' for none."""
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
        # Whoever started it may live longer than the daemon, and must not keep a zombie.
        threading.Thread(target=process.wait, name="daemon-reaper", daemon=True).start()
        return _line_from(ready, deadline)
    finally:
        os.close(ready)


def _line_from(descriptor: int, deadline: float) -> str:
    """The line that comes; '' when the other side ended without one, or the time is up."""
    line = b""
    while not line.endswith(b"\n"):
        left_s = max(0.0, deadline - time.monotonic())
        if not select.select([descriptor], [], [], left_s)[0]:
            return ""
        part = os.read(descriptor, 65536)
        if not part:
            return ""
        line += part
    return line.decode(errors="replace").strip()


def _await_answer(home: Home, deadline: float) -> DaemonHealth | None:
    """Asks until a daemon answers."""
    for pause in growing_pauses():
        with suppress(UserError):  # a daemon on its way up has not written all files yet
            health = probe(home)
            if health is not None:
                return health
        if time.monotonic() > deadline:
            break
        time.sleep(pause)
    return None


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if not lines:
        return ""
    return "\nIts last words:\n" + "\n".join(f"  {line}" for line in lines[-_LAST_LINES:])
