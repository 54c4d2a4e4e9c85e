"""The study: an SQLite file in the run's directory that others may read while it is written.

A sweep that goes on from an earlier one begins with a copy of that one's study. Trials that had
not come to their end there are tried again.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import optuna
from optuna.storages import RDBStorage
from optuna.study import StudyDirection
from optuna.trial import Trial, TrialState

from mosaic.client.sweeps.study import STOPPED_ATTRIBUTE
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

REPEATS_ATTRIBUTE = "repeats"
"""On a trial that tries the values of an unfinished one again: the number of that one."""

_BUSY_S = 60.0


class _Connection(sqlite3.Connection):
    """Does not wait for the disk at each commit; a killed sweep loses nothing by that."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.execute("PRAGMA synchronous=NORMAL")


def copy_study(source: Path, target: Path) -> None:
    """A copy as of one moment, whoever writes to `source` meanwhile."""
    if not source.is_file():
        raise WorkerError(
            f"The earlier sweep has no study: {source} is not there.",
            remedy="Start a new sweep instead.",
        )
    try:
        with (
            closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as error:
        raise WorkerError(
            f"The study {source} cannot be copied: {error}.", remedy="Start a new sweep instead."
        ) from error


def open_study(
    path: Path, name: str, direction: str, sampler: BaseSampler, pruner: BasePruner
) -> optuna.Study:
    """The study in the file; made unless it is there."""
    # Readers and the one writer then never wait for each other.
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
    options = {"timeout": _BUSY_S, "factory": _Connection}
    storage = RDBStorage(f"sqlite:///{path}", engine_kwargs={"connect_args": options})
    names = optuna.get_all_study_names(storage)
    if names:
        study = optuna.load_study(
            study_name=names[-1], storage=storage, sampler=sampler, pruner=pruner
        )
        if study.direction.name.lower() != direction:
            raise WorkerError(
                f"The earlier sweep was to {study.direction.name.lower()}, this one is to"
                f" {direction}.",
                remedy="Start a new sweep instead.",
            )
        return study
    return optuna.create_study(
        study_name=name,
        storage=storage,
        direction=StudyDirection[direction.upper()],
        sampler=sampler,
        pruner=pruner,
    )


def try_unfinished_again(study: optuna.Study) -> int:
    """Puts the values of all trials that ended with their sweep in front; how many."""
    trials = study.get_trials(deepcopy=False)
    repeated = {trial.user_attrs.get(REPEATS_ATTRIBUTE) for trial in trials}
    again = 0
    for trial in trials:
        if trial.state is TrialState.RUNNING:  # its sweep was killed
            live = Trial(study, trial._trial_id)  # noqa: SLF001 - Optuna has no other way back
            mark_stopped(study, live, "The sweep was killed.")
        elif STOPPED_ATTRIBUTE not in trial.user_attrs:
            continue
        if trial.number not in repeated and trial.params:
            study.enqueue_trial(trial.params, user_attrs={REPEATS_ATTRIBUTE: trial.number})
            again += 1
    return again


def mark_stopped(study: optuna.Study, trial: Trial, reason: str) -> None:
    """The trial ends without a result, and is not counted."""
    trial.set_user_attr(STOPPED_ATTRIBUTE, reason)
    study.tell(trial, state=TrialState.FAIL)


def counted_trials(study: optuna.Study) -> int:
    """Trials that came to their end: those that failed too, those that were stopped not."""
    return sum(
        trial.state.is_finished() and STOPPED_ATTRIBUTE not in trial.user_attrs
        for trial in study.get_trials(deepcopy=False)
    )
