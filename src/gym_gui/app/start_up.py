"""Start-up of the window: application, log, theme, window; then the daemon, in the background."""

import gc
import logging
import signal
import socket
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QSocketNotifier, Qt, QTimer
from PySide6.QtWidgets import QApplication

from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import AppContext
from gym_gui.runtime.ui_collection import UiCollection
from mosaic.contract.layout import Home, create_private_folder

_log = logging.getLogger(__name__)

_LOG_NAME = "window.log"
_MAX_LOG_BYTES = 1_000_000
_LOG_BACKUPS = 1
_LOG_FORMAT = "%(asctime)s %(levelname)-8s %(name)s: %(message)s"
_LOGGERS = ("gym_gui", "mosaic")
"""Messages of libraries go to the terminal only."""


@dataclass(frozen=True, slots=True)
class StartupOptions:
    """Options of the command line: what the window opens first."""

    run_id: str = ""
    env_id: str = ""
    starts_daemon: bool = True


def run_window(home: Home, options: StartupOptions) -> int:
    """Show the window; return its exit code after it is closed."""
    log = open_window_log(home)
    # WebEngine requires this before the application is created.
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("MOSAIC")
    app.setApplicationDisplayName("MOSAIC")
    app.setDesktopFileName("mosaic")
    collection = UiCollection()
    context = AppContext(home)
    apply_theme(app, context.theme, context.window)
    _report_exceptions(context)
    _close_on_signals(context)
    context.window.show()
    # After the first paint, which the connection to the daemon must not delay.
    QTimer.singleShot(0, lambda: _open(context, options))
    code = app.exec()
    context.close()
    collection.close()  # the collector stays off while the window's objects are destroyed
    close_window_log(log)
    return code


def _open(context: AppContext, options: StartupOptions) -> None:
    """Exclude the objects of start-up from garbage collection, then open the window."""
    gc.freeze()
    context.open(options)


def _report_exceptions(context: AppContext) -> None:
    """An exception in a slot is logged and displayed; the window stays open."""

    def report(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        sys.__excepthook__(kind, error, trace)
        if not issubclass(kind, Exception):
            return
        _log.error("C303 unhandled exception in the window", exc_info=(kind, error, trace))
        context.notices.offer(
            f"Internal error: {kind.__name__}: {error}. Runs are not affected;"
            " see the log for details.",
            "Show log",
            context.window.show_log,
            tone="bad",
        )

    sys.excepthook = report


def _close_on_signals(context: AppContext) -> None:
    """Ctrl-C in the terminal and SIGTERM close the window as its close button does.

    Python runs signal handlers only between byte codes, which do not execute while Qt waits, so the
    number of the signal is written to a socket that Qt watches.
    """
    reader, writer = socket.socketpair()
    for end in (reader, writer):
        end.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, context.window)

    def close() -> None:
        reader.recv(4096)
        context.window.close()

    notifier.activated.connect(close)
    context.keep_alive.extend((reader, writer))


def open_window_log(home: Home) -> logging.Handler | None:
    """Log to a file in the home, or return `None` if it cannot be created."""
    try:
        create_private_folder(home.logs)
        handler = _PrivateFileHandler(
            home.logs / _LOG_NAME,
            maxBytes=_MAX_LOG_BYTES,
            backupCount=_LOG_BACKUPS,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        _log.warning("C306 cannot open the window log: %s", error)
        return None
    handler.setFormatter(logging.Formatter(_LOG_FORMAT))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    return handler


def close_window_log(handler: logging.Handler | None) -> None:
    """Remove and close the handler, after the window is closed."""
    if handler is None:
        return
    for name in _LOGGERS:
        logging.getLogger(name).removeHandler(handler)
    handler.close()


class _PrivateFileHandler(RotatingFileHandler):
    """A log file that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        file = Path(self.baseFilename)
        file.touch(mode=0o600)
        file.chmod(0o600)
        return super()._open()
