"""The daemon's log: `var/logs/daemon.log`, rotated, without secrets."""

import logging
import sys
from collections.abc import Callable
from logging.handlers import RotatingFileHandler

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.secrets import RedactingFilter

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
