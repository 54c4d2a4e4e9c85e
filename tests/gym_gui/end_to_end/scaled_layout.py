"""`python -m tests.gym_gui.end_to_end.scaled_layout HOME`: layout faults at QT_SCALE_FACTOR.

A separate process, because Qt reads the factor once. Prints the factor, then the faults.
"""

import sys
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import AppContext
from mosaic.contract.layout import Home
from tests.gym_gui.end_to_end.layout_check import find_faults
from tests.gym_gui.end_to_end.screens import is_complete, other_screens, session_screens

_EVENT_ROUNDS = 6
_POLL_MS = 10
_SIZES = (QSize(1024, 700), QSize(1440, 900))


def main() -> None:
    app = QApplication(sys.argv[:1])
    context = AppContext(Home(Path(sys.argv[1])))
    apply_theme(app, context.theme, context.window)
    context.window.show()
    print(context.window.devicePixelRatioF())
    faults = []
    for size in _SIZES:
        context.window.resize(size)
        for screens in (session_screens, other_screens):
            for screen in screens(context):
                while not is_complete(context.window):
                    QTest.qWait(_POLL_MS)  # pages are imported on a thread
                for _ in range(_EVENT_ROUNDS):
                    app.processEvents()
                where = f"{size.width()} x {size.height()}, {screen}"
                faults += [f"{where}: {fault}" for fault in find_faults(context.window)]
    print("\n".join(faults), end="")
    context.window.close()
    context.close()


if __name__ == "__main__":
    main()
