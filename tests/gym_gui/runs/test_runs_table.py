"""The item model of the list of runs: rows, order and groups."""

import random

import msgspec
import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runs.model.runs_table import HEADING_ROLE, RunsTable
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from mosaic.contract.run_events import RunDeleted, RunEvent
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats

_ASCENDING, _DESCENDING = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


def _run(number: int, **fields: object) -> RunRecord:
    default = RunRecord(
        run_id=f"run{number:04d}",
        worker="cleanrl_worker",
        mode="train",
        algo="ppo",
        env_id="CartPole-v1",
        seed=number,
        state=RunState.SUCCEEDED,
        created_at=1000.0 + number,
        digest=RunStats(),
    )
    return msgspec.structs.replace(default, **fields)


@pytest.fixture
def runs(offline_services: Services) -> RunsModel:
    """Without a daemon; tests add runs with `apply`."""
    return RunsModel(offline_services)


@pytest.fixture
def table(runs: RunsModel) -> RunsTable:
    model = RunsTable(runs)
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    return model


def _rows(table: RunsTable) -> list[str]:
    """Run ids, and group titles with their counts."""
    rows = []
    for row in range(table.rowCount()):
        heading = table.index(row, 0).data(HEADING_ROLE)
        run = table.run_at(row)
        rows.append(run.run_id if run else f"{heading.title}: {heading.count}")
    return rows


def test_sorting(runs: RunsModel, table: RunsTable) -> None:
    """Newest first by default; unknown values are last in either order."""
    for number, mean in enumerate((5.0, None, 9.0, float("nan"))):
        runs.apply(_run(number, digest=RunStats(mean_return=mean)))
    assert _rows(table) == ["run0003", "run0002", "run0001", "run0000"]
    table.sort(RunColumn.MEAN, _DESCENDING)
    assert _rows(table) == ["run0002", "run0000", "run0003", "run0001"]
    table.sort(RunColumn.MEAN, _ASCENDING)
    assert _rows(table) == ["run0000", "run0002", "run0003", "run0001"]
    heading = table.headerData(RunColumn.MEAN, Qt.Orientation.Horizontal)
    assert heading == "return ↑"
    runs.apply(_run(2, digest=RunStats(mean_return=1.0)))
    assert _rows(table)[0] == "run0002"


def test_groups_can_be_collapsed(runs: RunsModel, table: RunsTable) -> None:
    """Headings count their runs; a run with two tags is in both groups."""
    runs.apply(_run(0, tags=("b", "a")))
    runs.apply(_run(1, tags=("b",)))
    runs.apply(_run(2, state=RunState.RUNNING))
    table.group_by("tag")
    all_rows = ["a: 1", "run0000", "b: 2", "run0001", "run0000", "No tag: 1", "run0002"]
    assert _rows(table) == all_rows
    table.set_collapsed(2, True)
    assert _rows(table) == ["a: 1", "run0000", "b: 2", "No tag: 1", "run0002"]
    runs.apply(_run(2, state=RunState.RUNNING, tags=("b",)))
    assert _rows(table) == ["a: 1", "run0000", "b: 3"]
    table.set_all_collapsed(False)
    assert _rows(table)[2:] == ["b: 3", "run0002", "run0001", "run0000"]
    table.group_by("state")
    assert _rows(table) == ["● running: 1", "run0002", "✓ done: 2", "run0001", "run0000"]
    assert table.heading_above(4) == 2
    table.group_by("none")
    assert _rows(table) == ["run0002", "run0001", "run0000"]


def test_archived_and_hidden_runs(runs: RunsModel, table: RunsTable) -> None:
    """Archived runs are counted separately; hidden runs are not listed."""
    for number in range(4):
        runs.apply(_run(number, archived=number == 0))
    assert (table.run_count, table.known_count, table.archived_count) == (3, 3, 1)
    table.set_filter("s3")
    assert (table.run_count, table.known_count, _rows(table)) == (1, 3, ["run0003"])
    table.set_filter("")
    table.set_hidden(["run0002"])
    assert _rows(table) == ["run0003", "run0001"]
    table.show_archived(True)
    assert _rows(table) == ["run0003", "run0001", "run0000"]
    assert table.archived_count == 0


def test_persistent_indexes_follow_their_runs(runs: RunsModel) -> None:
    """While runs are added, deleted, changed and sorted at random."""
    rng = random.Random(5)
    columns = list(RunColumn)
    runs._on_listed(tuple(_run(number) for number in range(60)))
    table = RunsTable(runs)
    QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal, table)
    indexes = {row: QPersistentModelIndex(table.index(row, 0)) for row in range(60)}
    names = {index: run.run_id for row, index in indexes.items() if (run := table.run_at(row))}
    assert len(names) == 60
    deleted_ids = set()
    for round_number in range(120):
        number = rng.randrange(70)
        if round_number % 5 == 0:
            table.sort(rng.choice(columns), rng.choice((_ASCENDING, _DESCENDING)))
        if round_number % 7 == 0:
            deleted = RunEvent(seq=1, t=1.0, run_id=f"run{number:04d}", what=RunDeleted())
            runs._on_events([deleted])
            assert runs.by_id(deleted.run_id) is None
            deleted_ids.add(deleted.run_id)
        else:
            stats = RunStats(mean_return=rng.random(), disk_bytes=rng.randrange(99))
            runs.apply(_run(number, state=rng.choice(list(RunState)), digest=stats))
        for index, run_id in names.items():
            run = table.run_at(index.row()) if index.isValid() else None
            found_id = run.run_id if run else None
            assert found_id == (None if run_id in deleted_ids else run_id)
    assert sorted(_rows(table)) == sorted(run.run_id for run in runs.runs)
