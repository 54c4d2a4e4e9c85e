"""The Optuna study: an SQLite file in the run's directory, readable while it is written.

A resumed sweep starts with a copy of the earlier study, and repeats its unfinished trials.
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
"""On a trial that repeats an unfinished one: the number of that trial."""

_BUSY_TIMEOUT_S = 60.0


class _Connection(sqlite3.Connection):
    """Does not sync at each commit; commits still survive a killed sweep."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.execute("PRAGMA synchronous=NORMAL")


def copy_study(source: Path, target: Path) -> None:
    """Make a consistent copy, even while `source` is written."""
    if not source.is_file():
        raise WorkerError(
            f"The earlier sweep has no study: {source} does not exist.",
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
    """Open the study, or create it."""
    # Readers and the writer do not block each other in WAL mode.
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
    options = {"timeout": _BUSY_TIMEOUT_S, "factory": _Connection}
    storage = RDBStorage(f"sqlite:///{path}", engine_kwargs={"connect_args": options})
    names = optuna.get_all_study_names(storage)
    if names:
        study = optuna.load_study(
            study_name=names[-1], storage=storage, sampler=sampler, pruner=pruner
        )
        if study.direction.name.lower() != direction:
            raise WorkerError(
                f"The direction of the earlier sweep is {study.direction.name.lower()}, not"
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


def enqueue_unfinished(study: optuna.Study) -> int:
    """Enqueue the values of all stopped trials; returns their number."""
    trials = study.get_trials(deepcopy=False)
    repeated = {trial.user_attrs.get(REPEATS_ATTRIBUTE) for trial in trials}
    enqueued = 0
    for trial in trials:
        if trial.state is TrialState.RUNNING:  # the sweep was killed
            live = Trial(study, trial._trial_id)  # noqa: SLF001 - private
            mark_stopped(study, live, "The sweep was killed.")
        elif STOPPED_ATTRIBUTE not in trial.user_attrs:
            continue
        if trial.number not in repeated and trial.params:
            study.enqueue_trial(trial.params, user_attrs={REPEATS_ATTRIBUTE: trial.number})
            enqueued += 1
    return enqueued


def mark_stopped(study: optuna.Study, trial: Trial, reason: str) -> None:
    """End the trial without a result; it is not counted."""
    trial.set_user_attr(STOPPED_ATTRIBUTE, reason)
    study.tell(trial, state=TrialState.FAIL)


def count_trials(study: optuna.Study) -> int:
    """The number of finished trials including failed, but not stopped ones."""
    return sum(
        trial.state.is_finished() and STOPPED_ATTRIBUTE not in trial.user_attrs
        for trial in study.get_trials(deepcopy=False)
    )
