"""Reads an Optuna study from its SQLite file: ours while it is written, or anybody's.

Needs no Optuna. A study made by CleanRL's own tuner opens too. Called by the command line and the
window; opens the file for reading only, and keeps nothing open.
"""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from mosaic.contract.errors import UserError

TrialState = Literal["waiting", "running", "complete", "pruned", "failed", "stopped"]
STOPPED_ATTRIBUTE = "stopped"
"""On a trial of ours that ended with its sweep; a sweep that resumes runs it again."""

_STATES: dict[str, TrialState] = {
    "WAITING": "waiting",
    "RUNNING": "running",
    "COMPLETE": "complete",
    "PRUNED": "pruned",
    "FAIL": "failed",
}
_SPECIAL = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}
_WHOLE = ("IntDistribution", "IntUniformDistribution", "IntLogUniformDistribution")
_NEEDED_TABLES = {"studies", "study_directions", "trials", "trial_params", "trial_values"}
_FILE_MAGIC = b"SQLite format 3\0"
_WRITE_VERSION, _WITH_LOG = 18, b"\x02"
_BUSY_S = 5.0
_NO_STUDY = (sqlite3.Error, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What reading raises where something else stands than Optuna writes."""


class StudyError(UserError):
    """A file cannot be read as a study."""

    default_code = "C233"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


class StudyTrial(msgspec.Struct, kw_only=True, frozen=True):
    """One set of values that was tried, and what came of it."""

    number: int
    state: TrialState
    values: tuple[float, ...] = ()
    """One for each objective; empty while there is none."""
    params: dict[str, Any] = {}
    intermediate: dict[int, float] = {}
    """What was reported on the way, by step. CleanRL's tuner counts seeds there, not steps."""
    started_at: float | None = None
    ended_at: float | None = None
    attributes: dict[str, Any] = {}

    @property
    def value(self) -> float | None:
        return self.values[0] if self.values else None

    @property
    def latest(self) -> float | None:
        """The value, or the newest one on the way to it."""
        if self.values or not self.intermediate:
            return self.value
        return self.intermediate[max(self.intermediate)]


class Study(msgspec.Struct, kw_only=True, frozen=True):
    """A study as it is now."""

    name: str
    directions: tuple[str, ...]
    """`minimize` or `maximize`, one for each objective."""
    trials: tuple[StudyTrial, ...]
    attributes: dict[str, Any] = {}
    log_params: tuple[str, ...] = ()
    """The parameters that are searched on a logarithmic scale."""

    @property
    def best(self) -> StudyTrial | None:
        """The complete trial with the best value; None while there is none, or for several
        objectives, where no trial is the best.
        """
        complete = [
            trial
            for trial in self.trials
            if trial.state == "complete" and trial.value is not None and not math.isnan(trial.value)
        ]
        if not complete or len(self.directions) != 1:
            return None
        sign = -1.0 if self.directions[0] == "maximize" else 1.0
        return min(complete, key=lambda trial: (sign * (trial.value or 0.0), trial.number))

    def count(self, *states: TrialState) -> int:
        return sum(trial.state in states for trial in self.trials)


def read_study(path: Path, name: str = "") -> Study:
    """The study of that name in the file; without a name the newest.

    Raises `StudyError` for a file that is none, or that has no such study.
    """
    studies = read_studies(path)
    named = [study for study in studies if not name or study.name == name]
    if not named:
        names = ", ".join(study.name for study in studies)
        there_are = f"It has {names}." if names else "It has none yet."
        raise StudyError(
            f"{path} has no study '{name[:200]}'." if name else f"{path} has no study.",
            remedy=there_are,
        )
    return named[-1]


def read_studies(path: Path) -> list[Study]:
    """Every study in the file, oldest first."""
    has_log = _expect_database(path)
    if has_log is None:
        return []
    # Whoever opens a file with a log makes that log, unless it is there: nobody writes then, and
    # the file can be read as it is.
    is_at_rest = has_log and not path.with_name(f"{path.name}-wal").exists()
    try:
        return _read(path, "immutable=1" if is_at_rest else "mode=ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise _locked(path) from error
        # A file that was being written may need a file beside it, which a folder that cannot be
        # written to does not allow; what is in the main file can still be read.
        if not _is_unwritable(error):
            raise _unreadable(path, error) from error
    except _NO_STUDY as error:
        raise _unreadable(path, error) from error
    try:
        return _read(path, "immutable=1")
    except _NO_STUDY as error:
        raise _unreadable(path, error) from error


def _expect_database(path: Path) -> bool | None:
    """Whether what is written to it goes to a log beside it first (SQLite's WAL mode); None of a
    file that is just being made, and has nothing in it yet."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_FILE_MAGIC) + 4)
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read: {error.strerror}.",
            remedy="Give the file of an Optuna study, such as optuna.db.",
        ) from error
    if not head:
        return None
    if not head.startswith(_FILE_MAGIC):
        raise StudyError(f"{path} is no SQLite file.", remedy="Give the file of an Optuna study.")
    return head[_WRITE_VERSION : _WRITE_VERSION + 1] == _WITH_LOG


def _is_unwritable(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    )


def _locked(path: Path) -> StudyError:
    return StudyError(
        f"{path} is locked: another program is writing to it.",
        remedy="Wait until it is done; what was written by then can be read.",
    )


def _unreadable(path: Path, error: Exception) -> StudyError:
    # The words of those of Python alone, such as `'name'`, mean nothing to a person.
    said = str(error) if isinstance(error, sqlite3.Error) else "it holds what Optuna does not write"
    return StudyError(
        f"{path} cannot be read as a study: {said}.",
        remedy="Give the SQLite file of a study made with Optuna 2.4 or later.",
    )


def _read(path: Path, option: str) -> list[Study]:
    address = f"{path.absolute().as_uri()}?{option}"
    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_S)) as database:
        database.execute("BEGIN")  # one picture of a file that others write to
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if not tables:
            return []  # it is just being made
        if not tables >= _NEEDED_TABLES:
            raise StudyError(
                f"{path} is a database, but no study of Optuna.",
                remedy="Give the SQLite file of a study made with Optuna 2.4 or later.",
            )
        reader = _Reader(database, tables)
        studies = database.execute("SELECT study_id, study_name FROM studies ORDER BY study_id")
        return [reader.study(study_id, name) for study_id, name in studies.fetchall()]


class _Reader:
    def __init__(self, database: sqlite3.Connection, tables: set[str]) -> None:
        self._database = database
        self._tables = tables

    def study(self, study_id: int, name: str) -> Study:
        directions = self._database.execute(
            "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective",
            (study_id,),
        )
        attributes = self._attributes("study_user_attributes", "study_id = ?", study_id)
        return Study(
            name=str(name),
            # Optuna minimizes what nobody has told it to do with.
            directions=tuple(str(each).lower() for (each,) in directions) or ("minimize",),
            trials=tuple(self._trials(study_id)),
            attributes=attributes.get(study_id, {}),
            log_params=self._log_params(study_id),
        )

    def _log_params(self, study_id: int) -> tuple[str, ...]:
        rows = self._database.execute(
            f"SELECT DISTINCT param_name, distribution_json FROM trial_params WHERE {_OF_STUDY}",  # noqa: S608 - names of our own
            (study_id,),
        )
        return tuple(sorted({name for name, text in rows if _is_log(_distribution(text))}))

    def _trials(self, study_id: int) -> Iterator[StudyTrial]:
        values = self._numbers("trial_values", "objective", "value", study_id)
        intermediate = self._numbers(
            "trial_intermediate_values", "step", "intermediate_value", study_id
        )
        params = self._params(study_id)
        attributes = self._attributes("trial_user_attributes", _OF_STUDY, study_id)
        rows = self._database.execute(
            "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials"
            " WHERE study_id = ? ORDER BY number",
            (study_id,),
        )
        for trial_id, number, state, started, ended in rows:
            noted = attributes.get(trial_id, {})
            read = _STATES.get(state, "failed")
            objectives = values.get(trial_id, {})
            yield StudyTrial(
                number=int(number),
                state="stopped" if read == "failed" and STOPPED_ATTRIBUTE in noted else read,
                values=tuple(objectives[each] for each in sorted(objectives)),
                params=params.get(trial_id, {}),
                intermediate=intermediate.get(trial_id, {}),
                started_at=_time(started),
                ended_at=_time(ended),
                attributes=noted,
            )

    def _numbers(
        self, table: str, key: str, column: str, study_id: int
    ) -> dict[int, dict[int, float]]:
        """By trial and `key`. Older files have no column that tells NaN and infinity."""
        if table not in self._tables:
            return {}
        columns = {row[1] for row in self._database.execute(f"PRAGMA table_info({table})")}
        kind = f"{column}_type" if f"{column}_type" in columns else "'FINITE'"
        rows = self._database.execute(
            f"SELECT trial_id, {key}, {column}, {kind} FROM {table} WHERE {_OF_STUDY}",  # noqa: S608 - names of our own
            (study_id,),
        )
        return _grouped(rows, lambda value, kind: _SPECIAL.get(kind, _finite(value)))

    def _params(self, study_id: int) -> dict[int, dict[str, Any]]:
        columns = "trial_id, param_name, param_value, distribution_json"
        rows = self._database.execute(
            f"SELECT {columns} FROM trial_params WHERE {_OF_STUDY} ORDER BY param_id",  # noqa: S608 - names of our own
            (study_id,),
        )
        return _grouped(rows, _external)

    def _attributes(self, table: str, condition: str, study_id: int) -> dict[int, dict[str, Any]]:
        if table not in self._tables:
            return {}
        owner = table.partition("_")[0]
        rows = self._database.execute(
            f"SELECT {owner}_id, key, value_json, NULL FROM {table} WHERE {condition}",  # noqa: S608 - names of our own
            (study_id,),
        )
        return _grouped(rows, lambda text, _: json.loads(text))


_OF_STUDY = "trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)"


def _grouped(
    rows: Iterable[Sequence[Any]], convert: Callable[[Any, Any], Any]
) -> dict[int, dict[Any, Any]]:
    grouped: dict[int, dict[Any, Any]] = defaultdict(dict)
    for owner, key, value, extra in rows:
        grouped[owner][key] = convert(value, extra)
    return grouped


def _external(value: float, distribution_json: str) -> Any:
    """A parameter's value as it was used: choices are kept as their place in the list."""
    distribution = _distribution(distribution_json)
    name, attributes = distribution["name"], distribution["attributes"]
    if name == "CategoricalDistribution":
        return attributes["choices"][int(value)]
    return int(value) if name in _WHOLE else value


@lru_cache(maxsize=256)
def _distribution(text: str) -> dict[str, Any]:
    """Every trial has the same few, over and over."""
    distribution: dict[str, Any] = json.loads(text)
    return distribution


def _is_log(distribution: dict[str, Any]) -> bool:
    """Older files have a kind of its own for it."""
    is_named_so = "LogUniform" in distribution["name"]
    return is_named_so or bool(distribution["attributes"].get("log"))


def _finite(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _time(text: str | None) -> float | None:
    """Optuna writes local time."""
    return None if text is None else datetime.fromisoformat(text).timestamp()
