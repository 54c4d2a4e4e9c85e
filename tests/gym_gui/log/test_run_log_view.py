"""RunLogView: the log of one run, followed, searched and copied."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.log.model.log_models import RunLogModel
from gym_gui.log.model.log_table_model import MESSAGE, TIME, Severity
from gym_gui.log.view.log_view import RunLogView
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = [
    pytest.mark.process,
    pytest.mark.qt_log_ignore("propagateSizeHints", extend=True),
]


@pytest.fixture
def model(services: Services) -> Iterator[RunLogModel]:
    runs = RunsModel(services)
    model = RunLogModel(services, runs)
    yield model
    model.close()
    runs.close()
    assert model.join(10)
    assert runs.join(10)


@pytest.fixture
def view(model: RunLogModel, theme: ThemeModel, qtbot: QtBot) -> RunLogView:
    view = RunLogView(model, theme)
    qtbot.addWidget(view)
    view.resize(750, 400)
    with qtbot.waitExposed(view):
        view.show()
    return view


def test_log_of_an_active_run(
    view: RunLogView,
    model: RunLogModel,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    qtbot: QtBot,
) -> None:
    """None of 20,000 lines is lost; it follows the end until scrolled up, and is searchable."""
    run_id = daemon.submit(steps=1_000_000, rate=20)
    daemon.until(run_id, RunState.RUNNING)
    log = daemon.run(run_id).worker_log
    with log.open("a") as file:
        file.writelines(f"line {number}\n" for number in range(20_000))
        file.write(
            "Traceback (most recent call last):\n  File x\nValueError: no\n\x1b[31mred\x1b[0m\n"
        )
        file.write("0%\r50%\r100%\n" + "x" * 300_000 + "\n")
    model.show(run_id)
    qtbot.waitUntil(lambda: model.rowCount() == 20_006, timeout=TIMEOUT_MS)
    messages = [model.record(row).message for row in range(20_005)]
    assert messages[:20_000] == [f"line {number}" for number in range(20_000)]
    severities = [model.record(row).severity for row in range(20_000, 20_003)]
    assert severities == [Severity.ERROR] * 3
    assert messages[20_003:] == ["red", "100%"]
    assert model.index(20_000, TIME).data() == "20,001"
    assert len(model.index(20_005, MESSAGE).data()) == 2_000
    table, details = view._table, view._details
    table.go_to(20_005)
    assert details.isVisible()
    assert len(details._text.toPlainText()) == 50_000
    view.copy()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("x" * 64_000)
    assert copied.endswith("(300,000 characters; the log file has them all)")
    table.follow(is_following=True)
    with log.open("a") as file:
        file.write("one more\n")
    qtbot.waitUntil(lambda: model.rowCount() == 20_007, timeout=TIMEOUT_MS)
    bar = table.verticalScrollBar()
    assert bar.value() == bar.maximum()
    QTest.keyClick(table, Qt.Key.Key_Home)
    assert not view._follow.isChecked()
    assert view._go_to_end.isVisible()
    with log.open("a") as file:
        file.write("and one\n")
    qtbot.waitUntil(lambda: model.rowCount() == 20_008, timeout=TIMEOUT_MS)
    assert bar.value() == 0
    search = view._filters._search
    search.setText("LINE 19999")
    assert model.match_count == 1
    QTest.keyClick(search, Qt.Key.Key_Return)
    assert table.currentIndex().row() == 19_999
    with qtbot.waitSignal(view.open_requested) as requested:
        view._open.click()
    assert requested.args == [str(log)]
    search.clear()

    def lines() -> list[str]:
        return [model.record(row).as_text() for row in range(model.rowCount())]

    link.client.control(run_id, {"cmd": "checkpoint"})
    view._source._segments["worker"].click()
    qtbot.waitUntil(lambda: any("W202" in line for line in lines()), timeout=TIMEOUT_MS)
    assert not view._open.isEnabled()
    view._source._segments["daemon"].click()
    qtbot.waitUntil(lambda: any("started" in line for line in lines()), timeout=TIMEOUT_MS)
    assert all(run_id in line for line in lines())


def test_all_lines_are_copied_without_a_selection(
    view: RunLogView, model: RunLogModel, daemon: DaemonUnderTest, qtbot: QtBot
) -> None:
    """As they were written. A run without output says so."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    model.show(run_id)
    qtbot.waitUntil(lambda: model.is_finished, timeout=TIMEOUT_MS)
    assert view._stack.currentWidget() is view._empty
    model.show("")
    with daemon.run(run_id).worker_log.open("a") as log:
        log.write("first\nT100 second\n")
    model.show(run_id)
    qtbot.waitUntil(lambda: model.is_finished and model.rowCount() == 2, timeout=TIMEOUT_MS)
    view.copy()
    assert QGuiApplication.clipboard().text() == "first\nT100 second"


def test_truncated_log(
    view: RunLogView,
    model: RunLogModel,
    daemon: DaemonUnderTest,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The status line has the number of all lines, and says where the older ones are."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    with daemon.run(run_id).worker_log.open("w") as log:
        log.writelines(f"line {number}\n" for number in range(3_000))
    model.show(run_id)
    qtbot.waitUntil(lambda: model.is_finished, timeout=TIMEOUT_MS)
    assert (model.total, model.is_truncated) == (3_000, False)
    assert view._status.text() == "3,000 lines"

    model.show("")
    model.max_records = 2_000
    model.show(run_id)
    qtbot.waitUntil(lambda: model.is_finished, timeout=TIMEOUT_MS)
    rows = model.rowCount()
    assert (model.total, model.is_truncated) == (3_000, True)
    assert model.dropped_count == 3_000 - rows
    assert 0 < rows <= 2_000
    assert view._status.text() == (
        f"{rows:,} of 3,000 lines · {3_000 - rows:,} older lines are in the run's worker.log"
    )

    model.show("")
    model.max_records = 20_000
    for module in ("gym_gui.log.feed", "gym_gui.log.model.log_models"):
        monkeypatch.setattr(f"{module}.RUN_TAIL_LINES", 500)
    model.show(run_id)
    qtbot.waitUntil(lambda: model.is_finished, timeout=TIMEOUT_MS)
    assert (model.total, model.is_truncated) == (500, True)
    assert model.dropped_count == 0
    assert view._status.text() == "500 lines · earlier lines may be in worker.log"
