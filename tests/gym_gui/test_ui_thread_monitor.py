"""UiThreadMonitor reports blocked UI threads."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

_BLOCKING_PROGRAM = """
import sys, time
from PySide6.QtCore import QCoreApplication, QTimer
from tests.gym_gui.ui_thread_monitor import UiThreadMonitor

app = QCoreApplication([])
monitor = UiThreadMonitor()
code = compile("def block():\\n    {statement}\\n", "src/gym_gui/example.py", "exec")
names = {{"time": time}}
exec(code, names)
QTimer.singleShot(50, names["block"])
QTimer.singleShot(1000, app.quit)
exec(compile("app.exec()", "event_loop.py", "exec"), {{"app": app}})
print(len(monitor.stop()))
"""


@pytest.mark.parametrize(
    ("statement", "count"),
    [("time.sleep(0.4)", "1"), ("while time.thread_time() < 2: pass", "1"), ("pass", "0")],
)
def test_it_reports_waiting_and_computing(statement: str, count: str) -> None:
    """A callback that sleeps or computes is reported, one that returns immediately is not."""
    finished = subprocess.run(
        [sys.executable, "-c", _BLOCKING_PROGRAM.format(statement=statement)],
        cwd=Path(__file__).parents[2],
        check=True,
        capture_output=True,
        text=True,
    )

    assert finished.stdout.strip() == count
