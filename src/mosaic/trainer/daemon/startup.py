"""What the daemon's process starts with: its command line, its log and the readiness pipe.

Users run `mosaic daemon start` or `mosaic daemon run`, which start
`python -m mosaic.trainer.daemon --home DIR`.
"""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from typing import Any

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.secrets import RedactingFilter

_HELP = {
    "host": ("ADDRESS", "TCP address to listen on; anything but loopback needs TLS"),
    "port": ("N", "TCP port to listen on; 0: any free port"),
    "tls_certificate": ("FILE", "PEM file of the certificate chain"),
    "tls_key": ("FILE", "PEM file of its key"),
    "max_runs": ("N", "maximum number of runs with a process"),
    "cpus": ("N", "total number of CPUs that runs may request"),
    "memory_mb": ("N", "total memory that runs may request"),
    "stop_grace_s": ("SECONDS", "time before SIGTERM, and again before SIGKILL"),
    "stalled_after_s": ("SECONDS", "a run without a heartbeat for this long gets a warning"),
    "min_free_disk_mb": ("N", "no run starts with less free disk space"),
}
_TYPES: dict[str, type] = {
    "host": str,
    "tls_certificate": str,
    "tls_key": str,
    "stop_grace_s": float,
    "stalled_after_s": float,
}


@dataclass(frozen=True, slots=True)
class Invocation:
    """The parsed command line."""

    home: Home
    ready_fd: int | None
    settings: dict[str, Any]
    """By the names of `DaemonSettings`; None for options that were not given."""


def parse(arguments: Sequence[str] | None = None) -> Invocation:
    """Parse the command line. Exits with 2 and a usage line when the arguments are invalid."""
    parser = argparse.ArgumentParser(
        prog="python -m mosaic.trainer.daemon",
        description="Serve a home in the foreground until SIGTERM or SIGINT; runs outlive it.",
        allow_abbrev=False,
    )
    parser.add_argument("--home", metavar="DIR", help="the home ($MOSAIC_HOME, or ./var)")
    parser.add_argument(
        "--ready-fd",
        type=int,
        metavar="N",
        help="descriptor for one line: `ready ADDRESS` or `error JSON`; no log on stderr then",
    )
    for name, (metavar, text) in _HELP.items():
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, type=_TYPES.get(name, int), metavar=metavar, help=text)
    given = vars(parser.parse_args(arguments))
    return Invocation(Home.locate(given.pop("home")), given.pop("ready_fd"), given)


_FILE = "daemon.log"
_FILE_BYTES = 5_000_000
_BACKUP_FILES = 4
_FORMAT = "%(asctime)s %(levelname)-8s %(name)s: %(message)s"


class DaemonLog:
    """`var/logs/daemon.log`, rotated and without secrets. Created before anything is logged."""

    def __init__(self, home: Home, *, foreground: bool) -> None:
        self._redact: Callable[[str], str] = str
        handlers: list[logging.Handler] = [_file_handler(home)]
        if foreground:
            handlers.append(logging.StreamHandler(sys.stderr))
        for handler in handlers:
            handler.setFormatter(logging.Formatter(_FORMAT))
            handler.addFilter(RedactingFilter(self.redact))
        logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
        logging.captureWarnings(capture=True)

    def redact(self, text: str) -> str:
        """`text` without secrets, once `redact_with` was called."""
        return self._redact(text)

    def redact_with(self, redact: Callable[[str], str]) -> None:
        self._redact = redact


def _file_handler(home: Home) -> RotatingFileHandler:
    path = home.logs / _FILE
    try:
        return RotatingFileHandler(
            path,
            maxBytes=_FILE_BYTES,
            backupCount=_BACKUP_FILES,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise UserError(
            f"The log {path} cannot be written: {error.strerror}.",
            remedy="Make the home writable for this user, or choose another one with --home.",
            code="T393",
        ) from error


class ReadinessPipe:
    """Reports the result of the start to the parent, as one line on a file descriptor.

    `ready ADDRESS`, or `error {"message", "remedy", "code"}`; nothing without a descriptor.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        if descriptor is not None:
            os.set_inheritable(descriptor, False)

    def ready(self, address: str) -> None:
        self._write(f"ready {address}\n".encode())

    def failed(self, error: UserError) -> None:
        report = {"message": error.message, "remedy": error.remedy, "code": error.code}
        self._write(b"error " + msgspec.json.encode(report) + b"\n")

    def _write(self, line: bytes) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        try:
            os.write(descriptor, line)
        except OSError:
            pass  # the parent is gone; the daemon serves anyway
        finally:
            os.close(descriptor)
