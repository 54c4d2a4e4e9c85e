"""The watch over the UI thread really notices."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

_HOLDS_UP = """
import sys, time
from PySide6.QtCore import QCoreApplication, QTimer
from tests.gym_gui.ui_watch import UiWatch

app = QCoreApplication([])
watch = UiWatch()
code = compile("def hold_up():\\n    {what}\\n", "src/gym_gui/pretended.py", "exec")
names = {{"time": time}}
exec(code, names)
QTimer.singleShot(50, names["hold_up"])
QTimer.singleShot(1000, app.quit)
exec(compile("app.exec()", "event_loop.py", "exec"), {{"app": app}})
print(len(watch.stop()))
"""


@pytest.mark.parametrize(
    ("what", "seen"),
    [("time.sleep(0.4)", "1"), ("while time.thread_time() < 2: pass", "1"), ("pass", "0")],
)
def test_it_notices_waiting_and_working(what: str, seen: str) -> None:
    """A callback of ours that sleeps or computes is seen; one that returns at once is not."""
    finished = subprocess.run(
        [sys.executable, "-c", _HOLDS_UP.format(what=what)],
        cwd=Path(__file__).parents[2],
        check=True,
        capture_output=True,
        text=True,
    )

    assert finished.stdout.strip() == seen
