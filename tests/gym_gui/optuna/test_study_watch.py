"""Reading a study while it is written, and only when the file changed."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.optuna.feed import ReadStudy, watch_studies
from gym_gui.runtime.file_poller import FilePoller
from mosaic.contract.errors import UserError
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.gym_gui.optuna_files import add_trial, create_study

_WRITE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
print("ready", flush=True)
for line in sys.stdin:
    database.execute("BEGIN IMMEDIATE")
    database.execute("INSERT INTO trials VALUES (?, ?, 1, 'RUNNING', NULL, NULL)",
                     (100 + int(line), int(line)))
    print("began", flush=True)
    sys.stdin.readline()
    database.execute("COMMIT")
    print("done", flush=True)
"""


def _numbers(read: tuple[ReadStudy, ...] | None) -> list[int]:
    assert read is not None
    if not read:
        return [-1]  # read between the creation of the tables and of the study
    return [trial.number for trial in read[0].study.trials]


@pytest.mark.process
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_reading_while_a_sweep_writes(tmp_path: Path, journal: str) -> None:
    """Committed trials are read while the next trial is written; no reader or writer blocks."""
    path = tmp_path / "optuna.db"
    create_study(path, journal=journal)
    add_trial(path, 0, 1.5)
    poll = watch_studies(path)
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITE, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with writer:
        assert writer.stdin is not None
        assert writer.stdout is not None

        def send(line: str) -> str:
            writer.stdin.write(f"{line}\n")  # type: ignore[union-attr]
            writer.stdin.flush()  # type: ignore[union-attr]
            return str(writer.stdout.readline().strip())  # type: ignore[union-attr]

        assert writer.stdout.readline().strip() == "ready"
        assert _numbers(poll()) == [0]
        assert poll() is None
        assert send("1") == "began"
        assert _numbers(watch_studies(path)()) == [0]
        assert send("continue") == "done"
        assert _numbers(poll()) == [0, 1]
        writer.stdin.close()
    assert writer.returncode == 0


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_reading_does_not_modify_files(tmp_path: Path, journal: str) -> None:
    """The file and its folder are unchanged; a missing file is not created."""
    path = tmp_path / "optuna.db"
    create_study(path, journal=journal)
    before = path.read_bytes()
    watch_studies(path)()
    with pytest.raises(UserError):
        watch_studies(tmp_path / "no.db")()
    assert [entry.name for entry in tmp_path.iterdir()] == ["optuna.db"]
    assert path.read_bytes() == before


def test_derived_data(tmp_path: Path) -> None:
    """The Pareto front for several objectives; only finite values are plotted."""
    path = tmp_path / "optuna.db"
    create_study(path, directions=("MAXIMIZE", "MINIMIZE"))
    for number, values in enumerate([(1.0, 1.0), (2.0, 2.0), (1.0, 2.0), (0.5, 0.5), (9.0, None)]):
        add_trial(path, number, *values, params={"x": number, "kind": "ab"[number % 2]})
    add_trial(path, 5, state="PRUNED", intermediate=0.25)
    add_trial(path, 6, state="FAIL")
    (read,) = watch_studies(path)() or ()
    assert [trial.number for trial in read.best] == [0, 1, 3]
    assert read.counts == {"complete": 5, "pruned": 1, "failed": 1}
    assert [trial.number for trial in read.plotted[0].trials] == [0, 1, 2, 3, 4, 5]
    assert read.plotted[0].values[-1] == 0.25
    assert read.plotted[0].is_pruned[-1]
    assert [trial.number for trial in read.plotted[1].trials] == [0, 1, 2, 3]
    assert read.numeric == {"x"}


@pytest.fixture
def updates() -> threading.Semaphore:
    return threading.Semaphore(0)


@pytest.fixture
def watch(
    updates: threading.Semaphore,
) -> Iterator[FilePoller[Path, tuple[ReadStudy, ...]]]:
    created = FilePoller("test", watch_studies, updates.release, pace_s=0.01)
    yield created
    created.close()
    assert created.join(10)


def test_a_poller_reports_changes_and_each_failure_once(
    qtbot: QtBot,
    tmp_path: Path,
    watch: FilePoller[Path, tuple[ReadStudy, ...]],
    updates: threading.Semaphore,
) -> None:
    """No file, then a study, then more trials; nothing is polled without a target."""
    path = tmp_path / "optuna.db"
    assert watch.thread is None

    def drain() -> list[object]:
        assert updates.acquire(timeout=TIMEOUT_MS / 1000)
        return [result.error or _numbers(result.value) for result in watch.drain()]

    watch.watch(path)
    (error,) = drain()
    assert isinstance(error, UserError)
    create_study(path)
    qtbot.waitUntil(lambda: drain()[-1] == [], timeout=TIMEOUT_MS)
    add_trial(path, 0, 1.0)
    qtbot.waitUntil(lambda: drain()[-1] == [0], timeout=TIMEOUT_MS)
    watch.watch(None)
    add_trial(path, 1, 1.0)
    watch.watch(path, is_live=False)
    qtbot.waitUntil(lambda: drain()[-1] == [0, 1], timeout=TIMEOUT_MS)
    watch.restart()
    qtbot.waitUntil(lambda: drain()[-1] == [0, 1], timeout=TIMEOUT_MS)


def test_a_database_of_something_else(tmp_path: Path) -> None:
    """The error says that Optuna tables are missing."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE things (name TEXT)")
    with pytest.raises(UserError, match="without Optuna's tables"):
        watch_studies(path)()


@pytest.mark.parametrize(
    "damage",
    [
        "INSERT INTO trial_params VALUES (1, 1, 'x', 0.5, '{}')",
        "INSERT INTO trial_params VALUES (1, 1, 'x', 0.5, '[]')",
        """INSERT INTO trial_params VALUES (1, 1, 'x', 7,
        '{"name": "CategoricalDistribution", "attributes": {"choices": [1]}}')""",
        "UPDATE trials SET datetime_start = 'yesterday'",
        "UPDATE trials SET number = NULL",
        "ALTER TABLE trials RENAME COLUMN state TO status",
    ],
)
def test_a_damaged_study_is_rejected(tmp_path: Path, damage: str) -> None:
    """The error says that the file cannot be read as a study."""
    path = tmp_path / "optuna.db"
    create_study(path)
    add_trial(path, 0, 1.0)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    with pytest.raises(UserError, match="cannot be read as a study"):
        watch_studies(path)()


def test_a_database_without_tables(tmp_path: Path) -> None:
    """An empty file has no studies; the default direction is to minimize."""
    path = tmp_path / "optuna.db"
    path.touch()
    poll = watch_studies(path)
    assert poll() == ()
    create_study(path, directions=())
    add_trial(path, 0, 1.0)
    add_trial(path, 1, 0.5)
    (read,) = poll() or ()
    assert [trial.number for trial in read.best] == [1]


def test_a_locked_database_has_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read after the lock was released."""
    monkeypatch.setattr("mosaic.client.sweeps.study._BUSY_TIMEOUT_S", 0.0)
    path = tmp_path / "optuna.db"
    create_study(path)
    poll = watch_studies(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UserError, match="is locked"):
            poll()
        database.execute("ROLLBACK")
    assert _numbers(poll()) == []


def test_a_bug_is_reported_once(qtbot: QtBot) -> None:
    """One error is reported, and polling continues."""
    polls: list[int] = []

    def begin(_: str) -> Callable[[], str]:
        def poll() -> str:
            polls.append(1)
            if len(polls) < 4:
                raise ZeroDivisionError("of a test")
            return "found"

        return poll

    updates: list[object] = []
    watch: FilePoller[str, str] = FilePoller("test", begin, lambda: None, pace_s=0.001)
    watch.watch("it")

    def is_found() -> bool:
        updates.extend(result.error or result.value for result in watch.drain())
        return "found" in updates

    qtbot.waitUntil(is_found, timeout=TIMEOUT_MS)
    watch.close()
    assert watch.join(10)
    errors = [update for update in updates if isinstance(update, UserError)]
    assert len(errors) == 1
    assert "ZeroDivisionError" in errors[0].message
