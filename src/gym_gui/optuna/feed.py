"""Studies of Optuna as the window shows them: read on a thread, again whenever the file is new.

The file is opened for reading only, for a moment at a time, so that a sweep can write to it.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mosaic.analytics.parameter_importance import (
    MIN_TRIALS,
    Importance,
    parameter_importance,
)
from mosaic.client.sweeps.study import Study, StudyError, StudyTrial, TrialState, read_studies

__all__ = [
    "MIN_TRIALS",
    "DrawnTrials",
    "Importance",
    "ReadStudy",
    "Study",
    "StudyError",
    "StudyTrial",
    "TrialState",
    "best_so_far",
    "pareto_front",
    "watch_studies",
]

_BESIDE = ("", "-wal", "-journal")
_Stamp = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class DrawnTrials:
    """The trials that have a finite value to be drawn at, in order; all lists are as long."""

    trials: list[StudyTrial]
    values: list[float]
    """Of a pruned trial the last one on the way."""
    is_pruned: list[bool]
    is_best: list[bool]


@dataclass(frozen=True, slots=True)
class ReadStudy:
    """A study, and what follows from it and takes a while to work out."""

    study: Study
    importance: tuple[tuple[Importance, ...], ...]
    """For each objective."""
    best: tuple[StudyTrial, ...]
    """One, or for several objectives all that no other trial beats."""
    drawn: tuple[DrawnTrials, ...]
    """For each objective."""
    counts: dict[TrialState, int]
    """How many trials there are in each state that there is."""
    params: tuple[str, ...]
    attributes: tuple[str, ...]
    """Names of what was noted at trials."""
    numeric: frozenset[str]
    """Names of parameters and attributes that are numbers in all trials."""


def watch_studies(path: Path) -> Callable[[], tuple[ReadStudy, ...] | None]:
    """For `FilePoller`: all studies in the file, oldest first; None while it is as it was."""
    seen: _Stamp | None = None

    def look() -> tuple[ReadStudy, ...] | None:
        nonlocal seen
        stamp = _stamp(path)
        if stamp == seen:
            return None
        read = tuple(_worked_out(study) for study in read_studies(path))
        seen = stamp  # not when reading failed: it is tried again
        return read

    return look


def _stamp(path: Path) -> _Stamp:
    """Size and time of the file, and of those that SQLite writes beside it."""
    found: list[tuple[int, int] | None] = []
    for ending in _BESIDE:
        try:
            state = path.with_name(path.name + ending).stat()
            found.append((state.st_size, state.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def _worked_out(study: Study) -> ReadStudy:
    complete = [trial for trial in study.trials if trial.state == "complete"]
    params = dict.fromkeys(name for trial in study.trials for name in trial.params)
    attributes = dict.fromkeys(name for trial in study.trials for name in trial.user_attrs)
    front = set(pareto_front(study))
    return ReadStudy(
        study=study,
        importance=tuple(
            parameter_importance(
                [(trial.params, trial.values[at]) for trial in complete if len(trial.values) > at]
            )
            for at in range(len(study.directions))
        ),
        best=tuple(trial for trial in study.trials if trial.number in front),
        drawn=tuple(_drawn(study, at, front) for at in range(len(study.directions))),
        counts=dict(Counter(trial.state for trial in study.trials)),
        params=tuple(params),
        attributes=tuple(attributes),
        numeric=frozenset({**params, **attributes}) - _not_numeric(study),
    )


def _drawn(study: Study, objective: int, front: set[int]) -> DrawnTrials:
    found = DrawnTrials([], [], [], [])
    for trial in study.trials:
        is_pruned = trial.state == "pruned"
        value: float | None = None
        if trial.state == "complete" and len(trial.values) > objective:
            value = trial.values[objective]
        elif is_pruned and objective == 0:
            value = trial.last_value
        if value is not None and math.isfinite(value):
            found.trials.append(trial)
            found.values.append(value)
            found.is_pruned.append(is_pruned)
            found.is_best.append(trial.number in front)
    return found


def _not_numeric(study: Study) -> set[str]:
    return {
        name
        for trial in study.trials
        for name, value in (*trial.params.items(), *trial.user_attrs.items())
        if isinstance(value, bool) or not isinstance(value, int | float)
    }


def pareto_front(study: Study) -> tuple[int, ...]:
    """The complete trials that none is better than in everything."""
    if len(study.directions) == 1:
        return (study.best_trial.number,) if study.best_trial else ()
    signs = [-1.0 if each == "maximize" else 1.0 for each in study.directions]
    points = sorted(
        (tuple(sign * value for sign, value in zip(signs, trial.values, strict=True)), trial.number)
        for trial in study.trials
        if trial.state == "complete"
        and len(trial.values) == len(signs)
        and not any(math.isnan(value) for value in trial.values)
    )
    front: list[tuple[tuple[float, ...], int]] = []
    for point, number in points:  # in this order nobody is beaten by one that comes later
        if not any(_beats(other, point) for other, _ in front):
            front.append((point, number))
    return tuple(sorted(number for _, number in front))


def _beats(other: tuple[float, ...], point: tuple[float, ...]) -> bool:
    return other != point and all(a <= b for a, b in zip(other, point, strict=True))


def best_so_far(study: Study, objective: int = 0) -> tuple[list[int], list[float]]:
    """A staircase: the trials at which the value was the best until then, and that value."""
    better = max if study.directions[objective] == "maximize" else min
    numbers: list[int] = []
    values: list[float] = []
    for trial in study.trials:
        if trial.state != "complete" or len(trial.values) <= objective:
            continue
        value = trial.values[objective]
        if math.isnan(value):
            continue
        if not values or (better(value, values[-1]) == value and value != values[-1]):
            numbers.append(trial.number)
            values.append(value)
    return numbers, values
