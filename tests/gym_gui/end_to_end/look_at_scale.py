"""`python -m tests.gym_gui.end_to_end.look_at_scale HOME`: what is cut off at QT_SCALE_FACTOR.

A process of its own, because Qt reads the factor once. Prints the factor, then the faults.
"""

import sys
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import AppContext
from mosaic.contract.layout import Home
from tests.gym_gui.end_to_end.layout_check import faults
from tests.gym_gui.end_to_end.screens import each_other_screen, each_played_view, is_complete

_TURNS = 6
_LOOK_MS = 10
_SIZES = (QSize(1024, 700), QSize(1440, 900))


def main() -> None:
    app = QApplication(sys.argv[:1])
    bench = AppContext(Home(Path(sys.argv[1])))
    apply_theme(app, bench.theme, bench.window)
    bench.window.show()
    print(bench.window.devicePixelRatioF())
    found = []
    for size in _SIZES:
        bench.window.resize(size)
        for screens in (each_played_view, each_other_screen):
            for screen in screens(bench):
                while not is_complete(bench.window):
                    QTest.qWait(_LOOK_MS)  # at rest in between: pages are loaded on a thread
                for _ in range(_TURNS):
                    app.processEvents()
                where = f"{size.width()} x {size.height()}, {screen}"
                found += [f"{where}: {fault}" for fault in faults(bench.window)]
    print("\n".join(found), end="")
    bench.window.close()
    bench.close()


if __name__ == "__main__":
    main()
