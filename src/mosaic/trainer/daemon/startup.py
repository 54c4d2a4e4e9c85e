"""The daemon's own command line: `python -m mosaic.trainer.daemon --home DIR`.

People use `mosaic daemon start` and `mosaic daemon run`, which start this.
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
    "host": ("ADDRESS", "where to listen; anything but loopback needs TLS"),
    "port": ("N", "port to listen on; 0: any that is free"),
    "tls_certificate": ("FILE", "PEM file of the certificate chain"),
    "tls_key": ("FILE", "PEM file of its key"),
    "max_runs": ("N", "how many runs may have a process at once"),
    "cpus": ("N", "how many CPUs runs may ask for together"),
    "memory_mb": ("N", "how much memory runs may ask for together"),
    "stop_grace_s": ("SECONDS", "between asking a run to stop and ending it"),
    "stalled_after_s": ("SECONDS", "without a heartbeat for so long, a run gets a warning"),
    "min_free_disk_mb": ("N", "with less than this on the disk no run is started"),
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
    """What the command line asks for."""

    home: Home
    ready_fd: int | None
    settings: dict[str, Any]
    """By the names of `DaemonSettings`; None where the command line is silent."""


def parse(arguments: Sequence[str] | None = None) -> Invocation:
    """Exits with 2 and a usage line when the arguments make no sense."""
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
_OLD_FILES = 4
_FORMAT = "%(asctime)s %(levelname)-8s %(name)s: %(message)s"


class DaemonLog:
    """Set up once per process, before anything else says something."""

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
        """`text` without secrets, as soon as it is known what they are."""
        return self._redact(text)

    def redact_with(self, redact: Callable[[str], str]) -> None:
        self._redact = redact


def _file_handler(home: Home) -> RotatingFileHandler:
    path = home.logs / _FILE
    try:
        return RotatingFileHandler(
            path, maxBytes=_FILE_BYTES, backupCount=_OLD_FILES, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise UserError(
            f"The log {path} cannot be written: {error.strerror}.",
            remedy="Make the home writable for this user, or choose another one with --home.",
            code="T393",
        ) from error


class ReadinessPipe:
    """`ready ADDRESS`, or `error {"message", "remedy", "code"}`; nothing when nobody asked."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        if descriptor is not None:
            os.set_inheritable(descriptor, False)

    def ready(self, address: str) -> None:
        self._tell(f"ready {address}\n".encode())

    def failed(self, error: UserError) -> None:
        told = {"message": error.message, "remedy": error.remedy, "code": error.code}
        self._tell(b"error " + msgspec.json.encode(told) + b"\n")

    def _tell(self, line: bytes) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        try:
            os.write(descriptor, line)
        except OSError:
            pass  # who asked is gone; the daemon serves all the same
        finally:
            os.close(descriptor)
