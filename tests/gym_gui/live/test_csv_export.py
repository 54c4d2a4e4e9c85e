"""CSV export: complete, or no file at all."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.live.feed.csv_export import Batch, CsvExport
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from tests.gym_gui.conftest import TIMEOUT_MS


@pytest.fixture
def export(ticker: UiTicker) -> Iterator[CsvExport]:
    export = CsvExport(ticker, QObject(ticker))
    yield export
    export.cancel()
    assert export.join(10)


def test_export_writes_all_rows(qtbot: QtBot, export: CsvExport, tmp_path: Path) -> None:
    """The header comes first, and values with commas are quoted."""
    file = tmp_path / "rows.csv"
    with qtbot.waitSignal(export.finished, timeout=TIMEOUT_MS) as done:
        export.start(file, ("a", "b"), [([(1, "x,y")], 2), ([(2, None)], 2)])
    assert done.args == [str(file)]
    assert file.read_text().splitlines() == ["a,b", '1,"x,y"', "2,"]
    assert list(tmp_path.iterdir()) == [file]


def test_cancelled_export_leaves_no_file(qtbot: QtBot, export: CsvExport, tmp_path: Path) -> None:
    """Neither the file nor a partial one."""

    def endless() -> Iterator[Batch]:
        while True:
            yield [(1,)], 10

    with qtbot.waitSignal(export.progressed, timeout=TIMEOUT_MS):
        export.start(tmp_path / "rows.csv", ("a",), endless())
    with qtbot.waitSignal(export.cancelled, timeout=TIMEOUT_MS):
        export.cancel()
    assert not list(tmp_path.iterdir())


def test_failed_export_reports_an_error(qtbot: QtBot, export: CsvExport, tmp_path: Path) -> None:
    """A missing folder is reported with a code and a remedy."""
    with qtbot.waitSignal(export.failed, timeout=TIMEOUT_MS) as failed:
        export.start(tmp_path / "missing" / "rows.csv", ("a",), [])
    (error,) = failed.args
    assert isinstance(error, UserError)
    assert error.code == "C351"
    assert error.remedy
