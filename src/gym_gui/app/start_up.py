"""Start-up: the application, its theme, the window first, and the daemon in the background."""

import gc
import logging
import signal
import socket
import sys
from dataclasses import dataclass
from types import TracebackType

from PySide6.QtCore import QSocketNotifier, Qt, QTimer
from PySide6.QtWidgets import QApplication

from gym_gui.app.theme import apply_theme
from gym_gui.app.window_log import keep_window_log, leave_window_log
from gym_gui.app.wiring import AppContext
from gym_gui.runtime.ui_collection import UiCollection
from mosaic.contract.layout import Home

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StartupOptions:
    """What the command line asks the window to begin with."""

    run_id: str = ""
    env_id: str = ""
    starts_daemon: bool = True


def run_window(home: Home, options: StartupOptions) -> int:
    """Shows the window and returns its exit code once it is closed."""
    log = keep_window_log(home)
    # Pages of others inside the window draw with OpenGL, and want to be told beforehand.
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("MOSAIC")
    app.setApplicationDisplayName("MOSAIC")
    app.setDesktopFileName("mosaic")
    collection = UiCollection()
    workbench = AppContext(home)
    apply_theme(app, workbench.theme, workbench.window)
    _show_bugs(workbench)
    _close_on_signals(workbench)
    workbench.window.show()
    # After the first paint: finding or starting the daemon must not delay it.
    QTimer.singleShot(0, lambda: _begin(workbench, options))
    code = app.exec()
    workbench.close()
    collection.close()  # the collector stays off while the window's objects are destroyed
    leave_window_log(log)
    return code


def _begin(workbench: AppContext, options: StartupOptions) -> None:
    """What start-up has made is there to stay: it is not searched for garbage."""
    gc.freeze()
    workbench.open(options)


def _show_bugs(workbench: AppContext) -> None:
    """A bug in a slot ends no window with a session in it, but nobody overlooks it either."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        if not issubclass(kind, Exception):
            return
        _log.error("C303 a bug in the window", exc_info=(kind, error, trace))
        workbench.notices.offer(
            f"Something in the window broke: {kind.__name__}: {error}. Your runs are not affected;"
            " the log has the details for a report.",
            "Show the log",
            workbench.window.show_log,
            tone="bad",
        )

    sys.excepthook = show


def _close_on_signals(workbench: AppContext) -> None:
    """Ctrl-C in the terminal and SIGTERM close the window as its close button does.

    Python's handlers run only between two byte codes, of which there are none while Qt waits; so
    the signal's number is written to a socket that Qt watches.
    """
    reader, writer = socket.socketpair()
    for end in (reader, writer):
        end.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, workbench.window)

    def close() -> None:
        reader.recv(4096)
        workbench.window.close()

    notifier.activated.connect(close)
    workbench.keep_alive.extend((reader, writer))
