"""The window's own log: `<home>/logs/window.log`, rotated. Set up once, by `start_up.py`.

What the daemon and the runs say is in logs of their own; the window shows those, and keeps this one
for reports of what broke in the window itself.
"""

import logging
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from mosaic.contract.layout import Home

_log = logging.getLogger(__name__)

_FILE = "window.log"
_FILE_BYTES = 1_000_000
_OLD_FILES = 1
_FORMAT = "%(asctime)s %(levelname)-8s %(name)s: %(message)s"
_OWN = ("gym_gui", "mosaic")
"""What libraries have to say in passing is left to the terminal."""


def keep_window_log(home: Home) -> logging.Handler | None:
    """From now on; `None` where there is no place for it, which keeps no window from opening."""
    try:
        home.logs.mkdir(parents=True, exist_ok=True)
        handler = _PrivateFile(
            home.logs / _FILE,
            maxBytes=_FILE_BYTES,
            backupCount=_OLD_FILES,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        _log.warning("C306 the window keeps no log: %s", error)
        return None
    handler.setFormatter(logging.Formatter(_FORMAT))
    for name in _OWN:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    return handler


def leave_window_log(handler: logging.Handler | None) -> None:
    """When the window has closed."""
    if handler is None:
        return
    for name in _OWN:
        logging.getLogger(name).removeHandler(handler)
    handler.close()


class _PrivateFile(RotatingFileHandler):
    """Paths and messages in it are nobody else's business."""

    def _open(self) -> TextIOWrapper:
        file = Path(self.baseFilename)
        file.touch(mode=0o600)
        file.chmod(0o600)
        return super()._open()
