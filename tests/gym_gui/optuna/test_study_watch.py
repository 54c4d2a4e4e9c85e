"""Reading a study while somebody else writes to it, and looking again only when it is new."""

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
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.study_writing import add_trial, new_study

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
def test_a_sweep_writes_meanwhile(tmp_path: Path, journal: str) -> None:
    """What is committed is read, also while the next trial is being written; nobody waits."""
    path = tmp_path / "optuna.db"
    new_study(path, journal=journal)
    add_trial(path, 0, 1.5)
    look = watch_studies(path)
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITE, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with writer:
        assert writer.stdin is not None
        assert writer.stdout is not None

        def say(words: str) -> str:
            writer.stdin.write(f"{words}\n")  # type: ignore[union-attr]
            writer.stdin.flush()  # type: ignore[union-attr]
            return str(writer.stdout.readline().strip())  # type: ignore[union-attr]

        assert writer.stdout.readline().strip() == "ready"
        assert _numbers(look()) == [0]
        assert look() is None
        assert say("1") == "began"
        assert _numbers(watch_studies(path)()) == [0]
        assert say("go on") == "done"
        assert _numbers(look()) == [0, 1]
        writer.stdin.close()
    assert writer.returncode == 0


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_reading_leaves_no_trace(tmp_path: Path, journal: str) -> None:
    """The file and its folder are as they were; a file that is not there is not made."""
    path = tmp_path / "optuna.db"
    new_study(path, journal=journal)
    before = path.read_bytes()
    watch_studies(path)()
    with pytest.raises(UserError):
        watch_studies(tmp_path / "no.db")()
    assert [each.name for each in tmp_path.iterdir()] == ["optuna.db"]
    assert path.read_bytes() == before


def test_what_is_worked_out(tmp_path: Path) -> None:
    """For several objectives the trials that none beats; what is not finite is not drawn."""
    path = tmp_path / "optuna.db"
    new_study(path, directions=("MAXIMIZE", "MINIMIZE"))
    for number, values in enumerate([(1.0, 1.0), (2.0, 2.0), (1.0, 2.0), (0.5, 0.5), (9.0, None)]):
        add_trial(path, number, *values, params={"x": number, "kind": "ab"[number % 2]})
    add_trial(path, 5, state="PRUNED", on_the_way=0.25)
    add_trial(path, 6, state="FAIL")
    (read,) = watch_studies(path)() or ()
    assert [trial.number for trial in read.best] == [0, 1, 3]
    assert read.counts == {"complete": 5, "pruned": 1, "failed": 1}
    assert [trial.number for trial in read.drawn[0].trials] == [0, 1, 2, 3, 4, 5]
    assert read.drawn[0].values[-1] == 0.25
    assert read.drawn[0].is_pruned[-1]
    assert [trial.number for trial in read.drawn[1].trials] == [0, 1, 2, 3]
    assert read.numeric == {"x"}


@pytest.fixture
def news() -> threading.Semaphore:
    return threading.Semaphore(0)


@pytest.fixture
def watch(
    news: threading.Semaphore,
) -> Iterator[FilePoller[Path, tuple[ReadStudy, ...]]]:
    made = FilePoller("test", watch_studies, news.release, pace_s=0.01)
    yield made
    made.close()
    assert made.join(10)


def test_a_watch_tells_what_is_new_and_a_failure_once(
    qtbot: QtBot,
    tmp_path: Path,
    watch: FilePoller[Path, tuple[ReadStudy, ...]],
    news: threading.Semaphore,
) -> None:
    """Nothing there, then a study, then more trials; while nobody watches nothing is looked at."""
    path = tmp_path / "optuna.db"
    assert watch.thread is None

    def told() -> list[object]:
        assert news.acquire(timeout=PATIENCE_MS / 1000)
        return [each.error or _numbers(each.found) for each in watch.take()]

    watch.watch(path)
    (error,) = told()
    assert isinstance(error, UserError)
    new_study(path)
    qtbot.waitUntil(lambda: told()[-1] == [], timeout=PATIENCE_MS)
    add_trial(path, 0, 1.0)
    qtbot.waitUntil(lambda: told()[-1] == [0], timeout=PATIENCE_MS)
    watch.watch(None)
    add_trial(path, 1, 1.0)
    watch.watch(path, is_live=False)
    qtbot.waitUntil(lambda: told()[-1] == [0, 1], timeout=PATIENCE_MS)
    watch.begin_again()
    qtbot.waitUntil(lambda: told()[-1] == [0, 1], timeout=PATIENCE_MS)


def test_a_database_of_something_else(tmp_path: Path) -> None:
    """It is said what it is not."""
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
def test_what_optuna_does_not_write(tmp_path: Path, damage: str) -> None:
    """It is said that this is no study; nothing breaks."""
    path = tmp_path / "optuna.db"
    new_study(path)
    add_trial(path, 0, 1.0)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    with pytest.raises(UserError, match="cannot be read as a study"):
        watch_studies(path)()


def test_a_database_that_is_just_being_made(tmp_path: Path) -> None:
    """An empty file has no studies yet; one without a direction minimizes, as Optuna does."""
    path = tmp_path / "optuna.db"
    path.touch()
    look = watch_studies(path)
    assert look() == ()
    new_study(path, directions=())
    add_trial(path, 0, 1.0)
    add_trial(path, 1, 0.5)
    (read,) = look() or ()
    assert [trial.number for trial in read.best] == [1]


def test_a_locked_database_says_that_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not that it is of another kind; it is read as soon as the lock is gone."""
    monkeypatch.setattr("mosaic.client.sweeps.study._BUSY_TIMEOUT_S", 0.0)
    path = tmp_path / "optuna.db"
    new_study(path)
    look = watch_studies(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UserError, match="is locked"):
            look()
        database.execute("ROLLBACK")
    assert _numbers(look()) == []


def test_a_bug_is_told_once(qtbot: QtBot) -> None:
    """Whoever waits for the answer hears that there is none, and the watch goes on."""
    looks: list[int] = []

    def begin(_: str) -> Callable[[], str]:
        def look() -> str:
            looks.append(1)
            if len(looks) < 4:
                raise ZeroDivisionError("of a test")
            return "found"

        return look

    news: list[object] = []
    watch: FilePoller[str, str] = FilePoller("test", begin, lambda: None, pace_s=0.001)
    watch.watch("it")

    def is_found() -> bool:
        news.extend(each.error or each.found for each in watch.take())
        return "found" in news

    qtbot.waitUntil(is_found, timeout=PATIENCE_MS)
    watch.close()
    assert watch.join(10)
    errors = [each for each in news if isinstance(each, UserError)]
    assert len(errors) == 1
    assert "ZeroDivisionError" in errors[0].message
