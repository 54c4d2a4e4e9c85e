"""TrialsTable: sorting, new trials and export."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt

from gym_gui.optuna.feed import ReadStudy, best_so_far, watch_studies
from gym_gui.optuna.model.study_points import history_points, setting_of, setting_points
from gym_gui.optuna.model.trials_table import TrialsTable
from tests.gym_gui.optuna_files import add_trial, create_study


@pytest.fixture
def path(tmp_path: Path) -> Path:
    created = tmp_path / "optuna.db"
    create_study(created)
    add_trial(created, 0, 2.0, params={"rate": 0.01, "kind": "b"}, attributes={"runs": ["r0"]})
    add_trial(created, 1, -1.5, params={"rate": 0.0001, "kind": "a"}, seconds=5)
    add_trial(created, 2, state="RUNNING", params={"rate": 0.001}, intermediate=7.0)
    add_trial(created, 3, None, params={"rate": 0.02, "kind": "a"}, attributes={"note": "odd"})
    return created


def _read(path: Path) -> ReadStudy:
    (read,) = watch_studies(path)() or ()
    return read


@pytest.fixture
def table(path: Path) -> TrialsTable:
    created = TrialsTable()
    created.show(_read(path))
    return created


def _column(table: TrialsTable, title: str) -> int:
    return next(at for at, column in enumerate(table.columns) if column.title == title)


def _numbers(table: TrialsTable) -> list[int]:
    return [table.trial(row).number for row in range(table.rowCount())]


def test_cell_texts(table: TrialsTable) -> None:
    """The best trial has a star; running trials show the newest value; missing values are empty."""
    titles = [column.title for column in table.columns]
    assert titles == ["trial", "state", "value", "time", "rate", "kind", "note"]
    rows = [[table.text(row, at) for at in range(len(titles))] for row in range(4)]
    assert rows[0] == ["★ 0", "✓ complete", "2", "00:30", "0.01", "b", ""]
    assert rows[1][:5] == ["1", "✓ complete", "\N{MINUS SIGN}1.5", "5 s", "0.0001"]
    assert rows[2][1:3] == ["● running", "7 …"]
    assert rows[3][2] == "not a number"


def test_sort_by_any_column(table: TrialsTable) -> None:
    """The best value comes first; missing values come last in both orders."""
    value, rate, kind = (_column(table, title) for title in ("value", "rate", "kind"))
    table.sort(value, table.first_order(value))
    assert _numbers(table) == [0, 1, 2, 3]
    assert table.headerData(value, Qt.Orientation.Horizontal) == "value ▾"
    table.sort(value, Qt.SortOrder.AscendingOrder)
    assert _numbers(table) == [1, 0, 2, 3]
    table.sort(rate)
    assert _numbers(table) == [1, 2, 0, 3]
    table.sort(kind, Qt.SortOrder.DescendingOrder)
    assert _numbers(table) == [0, 1, 3, 2]


def test_new_trials_are_inserted_in_sort_order(table: TrialsTable, path: Path) -> None:
    """The selection stays at its trial."""
    table.sort(_column(table, "value"), Qt.SortOrder.DescendingOrder)
    index = QPersistentModelIndex(table.index(1, 0))
    add_trial(path, 4, 9.0, params={"rate": 0.5, "kind": "a"})
    table.show(_read(path))
    assert _numbers(table) == [4, 0, 1, 2, 3]
    assert table.trial(index.row()).number == 1
    assert table.is_best(0)
    assert not table.is_best(1)
    table.show(None)
    assert table.rowCount() == table.columnCount() == 0


def test_export_as_plain_text(table: TrialsTable) -> None:
    """Numbers in full precision, in the order of the table, with column names."""
    table.sort(_column(table, "rate"))
    header, first, *others = table.as_rows()
    assert header == ["trial", "state", "value", "duration_s", "rate", "kind", "note"]
    assert first == ["1", "complete", "-1.5", "5.000", "0.0001", "a", ""]
    assert len(others) == 3
    assert table.as_rows([0]) == [header, first]


def test_points_of_the_plots(path: Path) -> None:
    """By trial, on a logarithmic scale, and by category with offsets."""
    add_trial(path, 4, 5.0, params={"rate": 0.001, "kind": "a"})
    read = _read(path)
    assert list(zip(history_points(read, 0).x, read.plotted[0].values, strict=True)) == [
        (0, 2.0),
        (1, -1.5),
        (4, 5.0),
    ]
    assert best_so_far(read.study) == ([0, 4], [2.0, 5.0])
    rate = setting_of(read, "rate")
    assert rate.is_log
    assert setting_points(read, 0, "rate", rate).x == pytest.approx([-2, -4, -3])
    kind = setting_of(read, "kind")
    assert kind.choices == ("a", "b")
    points = setting_points(read, 0, "kind", kind)
    assert [round(x) for x in points.x] == [1, 0, 0]
    assert points.x[1] != points.x[2]
    assert points.text(0) == "kind b"
