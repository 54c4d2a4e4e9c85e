"""Reads Optuna studies from a SQLite file, also while it is being written. Does not need Optuna.

Also reads studies of CleanRL's tuner. Opens the file read-only and closes it before returning.
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

from mosaic.client.former_names import FormerName
from mosaic.contract.errors import UserError
from mosaic.contract.regular_files import open_regular

TrialState = Literal["waiting", "running", "complete", "pruned", "failed", "stopped"]
STOPPED_ATTRIBUTE = "stopped"
"""User attribute of a trial that was stopped with its sweep; a resumed sweep runs it again."""

_STATES: dict[str, TrialState] = {
    "WAITING": "waiting",
    "RUNNING": "running",
    "COMPLETE": "complete",
    "PRUNED": "pruned",
    "FAIL": "failed",
}
_NON_FINITE = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}
_INT_DISTRIBUTIONS = ("IntDistribution", "IntUniformDistribution", "IntLogUniformDistribution")
_REQUIRED_TABLES = {"studies", "study_directions", "trials", "trial_params", "trial_values"}
_FILE_MAGIC = b"SQLite format 3\0"
_WRITE_VERSION_OFFSET, _WAL_VERSION = 18, b"\x02"
_BUSY_TIMEOUT_S = 5.0
_READ_ERRORS = (sqlite3.Error, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""Raised for a file with content that Optuna does not write."""


class StudyError(UserError):
    """A file is not a readable Optuna study."""

    default_code = "C233"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy, code=self.default_code)


class StudyTrial(msgspec.Struct, kw_only=True, frozen=True):
    """One trial, with the fields of Optuna's `FrozenTrial`."""

    number: int
    state: TrialState
    values: tuple[float, ...] = ()
    """One for each objective; empty until the trial reports one."""
    params: dict[str, Any] = {}
    intermediate_values: dict[int, float] = msgspec.field(default_factory=dict, name="intermediate")
    """Reported values by step. CleanRL's tuner uses the number of the seed as step."""
    started_at: float | None = None
    ended_at: float | None = None
    user_attrs: dict[str, Any] = msgspec.field(default_factory=dict, name="attributes")

    attributes = FormerName("user_attrs")
    intermediate = FormerName("intermediate_values")
    latest = FormerName("last_value")

    @property
    def value(self) -> float | None:
        return self.values[0] if self.values else None

    @property
    def last_value(self) -> float | None:
        """The final value, or the newest intermediate value."""
        if self.values or not self.intermediate_values:
            return self.value
        return self.intermediate_values[max(self.intermediate_values)]


class Study(msgspec.Struct, kw_only=True, frozen=True):
    """A snapshot of a study."""

    name: str
    directions: tuple[str, ...]
    """`minimize` or `maximize`, one for each objective."""
    trials: tuple[StudyTrial, ...]
    user_attrs: dict[str, Any] = msgspec.field(default_factory=dict, name="attributes")
    log_params: tuple[str, ...] = ()
    """Parameters that are searched on a logarithmic scale."""

    attributes = FormerName("user_attrs")
    best = FormerName("best_trial")

    @property
    def best_trial(self) -> StudyTrial | None:
        """The complete trial with the best value; None if there is none, or for several
        objectives.
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
    """Read the study with that name; without a name, the newest study in the file.

    Raises `StudyError` if the file is not readable or has no such study.
    """
    studies = read_studies(path)
    named = [study for study in studies if not name or study.name == name]
    if not named:
        names = ", ".join(study.name for study in studies)
        available = f"Available studies: {names}." if names else "The file contains no study yet."
        raise StudyError(
            f"{path} has no study '{name[:200]}'." if name else f"{path} has no study.",
            remedy=available,
        )
    return named[-1]


def read_studies(path: Path) -> list[Study]:
    """Read all studies in the file, oldest first."""
    is_wal = _check_database(path)
    if is_wal is None:
        return []
    # Opening a database in WAL mode creates its -wal file. If that file is missing, no process
    # writes to the database, and it can be opened as immutable.
    is_unused = is_wal and not path.with_name(f"{path.name}-wal").exists()
    try:
        return _read(path, "immutable=1" if is_unused else "mode=ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise _locked(path) from error
        # SQLite may need to create a -shm file, which fails in a read-only folder. The content of
        # the main file can still be read.
        if not _is_unwritable(error):
            raise _unreadable(path, error) from error
    except _READ_ERRORS as error:
        raise _unreadable(path, error) from error
    try:
        return _read(path, "immutable=1")
    except _READ_ERRORS as error:
        raise _unreadable(path, error) from error


def _check_database(path: Path) -> bool | None:
    """Return whether the database is in WAL mode; None for an empty file that is being created."""
    try:
        descriptor = open_regular(path, follow_links=True)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - opened by descriptor
            header = file.read(len(_FILE_MAGIC) + 4)
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read: {error.strerror}.",
            remedy="Choose the SQLite file of an Optuna study, such as optuna.db.",
        ) from error
    if not header:
        return None
    if not header.startswith(_FILE_MAGIC):
        raise StudyError(
            f"{path} is not a SQLite file.", remedy="Choose the SQLite file of an Optuna study."
        )
    return header[_WRITE_VERSION_OFFSET : _WRITE_VERSION_OFFSET + 1] == _WAL_VERSION


def _is_unwritable(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    )


def _locked(path: Path) -> StudyError:
    return StudyError(
        f"{path} is locked: another program is writing to it.",
        remedy="Try again when the other program has finished writing.",
    )


def _unreadable(path: Path, error: Exception) -> StudyError:
    # Messages of Python exceptions, such as `'name'`, do not help the user.
    reason = str(error) if isinstance(error, sqlite3.Error) else "its content is not from Optuna"
    return StudyError(
        f"{path} cannot be read as a study: {reason}.",
        remedy="Choose the SQLite file of a study made with Optuna 2.4 or later.",
    )


def _read(path: Path, option: str) -> list[Study]:
    uri = f"{path.absolute().as_uri()}?{option}"
    with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S)) as database:
        database.execute("BEGIN")  # a consistent snapshot while others write
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if not tables:
            return []  # the file is being created
        if not tables >= _REQUIRED_TABLES:
            raise StudyError(
                f"{path} is a database without Optuna's tables.",
                remedy="Choose the SQLite file of a study made with Optuna 2.4 or later.",
            )
        reader = _Reader(database, tables)
        studies = database.execute("SELECT study_id, study_name FROM studies ORDER BY study_id")
        return [reader.read_study(study_id, name) for study_id, name in studies.fetchall()]


class _Reader:
    def __init__(self, database: sqlite3.Connection, tables: set[str]) -> None:
        self._database = database
        self._tables = tables

    def read_study(self, study_id: int, name: str) -> Study:
        directions = self._database.execute(
            "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective",
            (study_id,),
        )
        user_attrs = self._read_attributes("study_user_attributes", "study_id = ?", study_id)
        return Study(
            name=str(name),
            # Optuna's default direction.
            directions=tuple(str(direction).lower() for (direction,) in directions)
            or ("minimize",),
            trials=tuple(self._read_trials(study_id)),
            user_attrs=user_attrs.get(study_id, {}),
            log_params=self._find_log_params(study_id),
        )

    def _find_log_params(self, study_id: int) -> tuple[str, ...]:
        columns = "param_name, distribution_json"
        rows = self._database.execute(
            f"SELECT DISTINCT {columns} FROM trial_params WHERE {_TRIALS_OF_STUDY}",  # noqa: S608 - constant names
            (study_id,),
        )
        return tuple(sorted({name for name, text in rows if _is_log(_parse_distribution(text))}))

    def _read_trials(self, study_id: int) -> Iterator[StudyTrial]:
        values = self._read_numbers("trial_values", "objective", "value", study_id)
        intermediate = self._read_numbers(
            "trial_intermediate_values", "step", "intermediate_value", study_id
        )
        params = self._read_params(study_id)
        user_attrs = self._read_attributes("trial_user_attributes", _TRIALS_OF_STUDY, study_id)
        rows = self._database.execute(
            "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials"
            " WHERE study_id = ? ORDER BY number",
            (study_id,),
        )
        for trial_id, number, state, started, ended in rows:
            attrs = user_attrs.get(trial_id, {})
            trial_state = _STATES.get(state, "failed")
            objectives = values.get(trial_id, {})
            yield StudyTrial(
                number=int(number),
                state="stopped"
                if trial_state == "failed" and STOPPED_ATTRIBUTE in attrs
                else trial_state,
                values=tuple(objectives[number] for number in sorted(objectives)),
                params=params.get(trial_id, {}),
                intermediate_values=intermediate.get(trial_id, {}),
                started_at=_parse_time(started),
                ended_at=_parse_time(ended),
                user_attrs=attrs,
            )

    def _read_numbers(
        self, table: str, key: str, column: str, study_id: int
    ) -> dict[int, dict[int, float]]:
        """Read numbers by trial and `key`. Older files have no column for NaN and infinity."""
        if table not in self._tables:
            return {}
        columns = {row[1] for row in self._database.execute(f"PRAGMA table_info({table})")}
        kind = f"{column}_type" if f"{column}_type" in columns else "'FINITE'"
        rows = self._database.execute(
            f"SELECT trial_id, {key}, {column}, {kind} FROM {table} WHERE {_TRIALS_OF_STUDY}",  # noqa: S608 - constant names
            (study_id,),
        )
        return _group(rows, lambda value, kind: _NON_FINITE.get(kind, _to_float(value)))

    def _read_params(self, study_id: int) -> dict[int, dict[str, Any]]:
        columns = "trial_id, param_name, param_value, distribution_json"
        rows = self._database.execute(
            f"SELECT {columns} FROM trial_params WHERE {_TRIALS_OF_STUDY} ORDER BY param_id",  # noqa: S608 - constant names
            (study_id,),
        )
        return _group(rows, _to_external_value)

    def _read_attributes(
        self, table: str, condition: str, study_id: int
    ) -> dict[int, dict[str, Any]]:
        if table not in self._tables:
            return {}
        owner = table.partition("_")[0]
        rows = self._database.execute(
            f"SELECT {owner}_id, key, value_json, NULL FROM {table} WHERE {condition}",  # noqa: S608 - constant names
            (study_id,),
        )
        return _group(rows, lambda text, _: json.loads(text))


_TRIALS_OF_STUDY = "trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)"


def _group(
    rows: Iterable[Sequence[Any]], convert: Callable[[Any, Any], Any]
) -> dict[int, dict[Any, Any]]:
    grouped: dict[int, dict[Any, Any]] = defaultdict(dict)
    for owner, key, value, extra in rows:
        grouped[owner][key] = convert(value, extra)
    return grouped


def _to_external_value(value: float, distribution_json: str) -> Any:
    """Convert a stored value; Optuna stores a choice as its index."""
    distribution = _parse_distribution(distribution_json)
    name, attributes = distribution["name"], distribution["attributes"]
    if name == "CategoricalDistribution":
        return attributes["choices"][int(value)]
    return int(value) if name in _INT_DISTRIBUTIONS else value


@lru_cache(maxsize=256)
def _parse_distribution(text: str) -> dict[str, Any]:
    """Cached: all trials share a few distributions."""
    distribution: dict[str, Any] = json.loads(text)
    return distribution


def _is_log(distribution: dict[str, Any]) -> bool:
    """Older versions of Optuna have separate distributions for logarithmic ranges."""
    is_log_type = "LogUniform" in distribution["name"]
    return is_log_type or bool(distribution["attributes"].get("log"))


def _to_float(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _parse_time(text: str | None) -> float | None:
    """Optuna stores local time."""
    return None if text is None else datetime.fromisoformat(text).timestamp()
