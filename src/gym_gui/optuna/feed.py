"""Optuna studies for the window, read on a thread whenever the file changes.

The file is opened read-only and only briefly, so that a sweep can write to it.
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
    "Importance",
    "PlottedTrials",
    "ReadStudy",
    "Study",
    "StudyError",
    "StudyTrial",
    "TrialState",
    "best_so_far",
    "pareto_front",
    "watch_studies",
]

_SUFFIXES = ("", "-wal", "-journal")
_FileStamp = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class PlottedTrials:
    """The trials with a finite value, in order; all lists have the same length."""

    trials: list[StudyTrial]
    values: list[float]
    """For pruned trials the last intermediate value."""
    is_pruned: list[bool]
    is_best: list[bool]


@dataclass(frozen=True, slots=True)
class ReadStudy:
    """A study and derived data that is slow to compute."""

    study: Study
    importance: tuple[tuple[Importance, ...], ...]
    """Per objective."""
    best: tuple[StudyTrial, ...]
    """The best trial, or the Pareto front for several objectives."""
    plotted: tuple[PlottedTrials, ...]
    """Per objective."""
    counts: dict[TrialState, int]
    """Number of trials per state."""
    params: tuple[str, ...]
    attributes: tuple[str, ...]
    """Names of user attributes."""
    numeric: frozenset[str]
    """Parameters and attributes that are numeric in all trials."""


def watch_studies(path: Path) -> Callable[[], tuple[ReadStudy, ...] | None]:
    """For `FilePoller`: all studies in the file, oldest first; None if it did not change."""
    last_stamp: _FileStamp | None = None

    def poll() -> tuple[ReadStudy, ...] | None:
        nonlocal last_stamp
        stamp = _stamp(path)
        if stamp == last_stamp:
            return None
        read = tuple(_analyse(study) for study in read_studies(path))
        last_stamp = stamp  # not after a failed read, which is retried
        return read

    return poll


def _stamp(path: Path) -> _FileStamp:
    """Size and time of the file and of the SQLite journal files."""
    stamps: list[tuple[int, int] | None] = []
    for suffix in _SUFFIXES:
        try:
            state = path.with_name(path.name + suffix).stat()
            stamps.append((state.st_size, state.st_mtime_ns))
        except OSError:
            stamps.append(None)
    return tuple(stamps)


def _analyse(study: Study) -> ReadStudy:
    complete = [trial for trial in study.trials if trial.state == "complete"]
    params = dict.fromkeys(name for trial in study.trials for name in trial.params)
    attributes = dict.fromkeys(name for trial in study.trials for name in trial.user_attrs)
    front = set(pareto_front(study))
    return ReadStudy(
        study=study,
        importance=tuple(
            parameter_importance(
                [
                    (trial.params, trial.values[index])
                    for trial in complete
                    if len(trial.values) > index
                ]
            )
            for index in range(len(study.directions))
        ),
        best=tuple(trial for trial in study.trials if trial.number in front),
        plotted=tuple(_plotted(study, index, front) for index in range(len(study.directions))),
        counts=dict(Counter(trial.state for trial in study.trials)),
        params=tuple(params),
        attributes=tuple(attributes),
        numeric=frozenset({**params, **attributes}) - _not_numeric(study),
    )


def _plotted(study: Study, objective: int, front: set[int]) -> PlottedTrials:
    plotted = PlottedTrials([], [], [], [])
    for trial in study.trials:
        is_pruned = trial.state == "pruned"
        value: float | None = None
        if trial.state == "complete" and len(trial.values) > objective:
            value = trial.values[objective]
        elif is_pruned and objective == 0:
            value = trial.last_value
        if value is not None and math.isfinite(value):
            plotted.trials.append(trial)
            plotted.values.append(value)
            plotted.is_pruned.append(is_pruned)
            plotted.is_best.append(trial.number in front)
    return plotted


def _not_numeric(study: Study) -> set[str]:
    return {
        name
        for trial in study.trials
        for name, value in (*trial.params.items(), *trial.user_attrs.items())
        if isinstance(value, bool) or not isinstance(value, int | float)
    }


def pareto_front(study: Study) -> tuple[int, ...]:
    """Numbers of the complete trials that no other trial dominates."""
    if len(study.directions) == 1:
        return (study.best_trial.number,) if study.best_trial else ()
    signs = [-1.0 if direction == "maximize" else 1.0 for direction in study.directions]
    points = sorted(
        (tuple(sign * value for sign, value in zip(signs, trial.values, strict=True)), trial.number)
        for trial in study.trials
        if trial.state == "complete"
        and len(trial.values) == len(signs)
        and not any(math.isnan(value) for value in trial.values)
    )
    front: list[tuple[tuple[float, ...], int]] = []
    for point, number in points:  # sorted, so no point is dominated by a later one
        if not any(_dominates(other, point) for other, _ in front):
            front.append((point, number))
    return tuple(sorted(number for _, number in front))


def _dominates(other: tuple[float, ...], point: tuple[float, ...]) -> bool:
    return other != point and all(a <= b for a, b in zip(other, point, strict=True))


def best_so_far(study: Study, objective: int = 0) -> tuple[list[int], list[float]]:
    """Trial numbers at which the best value improved, and these values."""
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
