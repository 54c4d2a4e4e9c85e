"""Writes Optuna databases without Optuna."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

_TABLES = """
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name VARCHAR(512));
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8),
    study_id INTEGER, objective INTEGER);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER,
    state VARCHAR(8), datetime_start DATETIME, datetime_complete DATETIME);
CREATE TABLE trial_user_attributes (trial_user_attribute_id INTEGER PRIMARY KEY,
    trial_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER,
    param_name VARCHAR(512), param_value FLOAT, distribution_json TEXT);
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER,
    objective INTEGER, value FLOAT, value_type VARCHAR(7));
CREATE TABLE trial_intermediate_values (trial_intermediate_value_id INTEGER PRIMARY KEY,
    trial_id INTEGER, step INTEGER, intermediate_value FLOAT, intermediate_value_type VARCHAR(7));
"""


def create_study(
    path: Path,
    name: str = "a study",
    directions: Sequence[str] = ("MAXIMIZE",),
    journal: str = "delete",
) -> None:
    """Add a study to the file, which is created if it does not exist."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"PRAGMA journal_mode={journal}")
        if not database.execute("SELECT name FROM sqlite_master").fetchall():
            database.executescript(_TABLES)
        study = database.execute("INSERT INTO studies (study_name) VALUES (?)", (name,))
        database.executemany(
            "INSERT INTO study_directions (direction, study_id, objective) VALUES (?, ?, ?)",
            [
                (direction, study.lastrowid, objective)
                for objective, direction in enumerate(directions)
            ],
        )


def add_trial(
    path: Path,
    number: int,
    *values: float | None,
    study: int = 1,
    state: str = "COMPLETE",
    params: Mapping[str, Any] | None = None,
    attributes: Mapping[str, Any] | None = None,
    intermediate: float | None = None,
    seconds: int = 30,
) -> None:
    """Add a trial. A value of None is stored as NaN, and text parameters as categorical."""
    with closing(sqlite3.connect(path, timeout=30)) as database, database:
        times = ("2026-01-31 10:00:00.000000", f"2026-01-31 10:00:{seconds:02d}.000000")
        trial = database.execute(
            "INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete)"
            " VALUES (?, ?, ?, ?, ?)",
            (number, study, state, *times),
        ).lastrowid
        database.executemany(
            "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, ?, ?, ?)",
            [
                (trial, objective, value, "FINITE" if value is not None else "NAN")
                for objective, value in enumerate(values)
            ],
        )
        database.executemany(
            "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json)"
            " VALUES (?, ?, ?, ?)",
            [(trial, name, *_to_stored(value)) for name, value in (params or {}).items()],
        )
        database.executemany(
            'INSERT INTO trial_user_attributes (trial_id, "key", value_json) VALUES (?, ?, ?)',
            [(trial, name, json.dumps(value)) for name, value in (attributes or {}).items()],
        )
        if intermediate is not None:
            database.execute(
                "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value,"
                " intermediate_value_type) VALUES (?, 0, ?, 'FINITE')",
                (trial, intermediate),
            )


def _to_stored(value: Any) -> tuple[float, str]:
    if isinstance(value, int | float):
        attributes = {"step": None, "low": 0.0, "high": 1e9, "log": value < 0.1}
        return value, json.dumps({"name": "FloatDistribution", "attributes": attributes})
    choices = ["other", value]
    name = "CategoricalDistribution"
    return 1.0, json.dumps({"name": name, "attributes": {"choices": choices}})
