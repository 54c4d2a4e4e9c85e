"""Points of the study plots: trials by number or by parameter."""

import math
from dataclasses import dataclass
from typing import Any

from gym_gui.optuna.feed import PlottedTrials, ReadStudy
from gym_gui.runtime.models.formatting import format_value

_SPREAD = 0.36
_OFFSETS = 7
"""Number of x offsets of points with the same category."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter on the x axis."""

    choices: tuple[str, ...] = ()
    """Categories of a parameter that is not numeric."""
    is_log: bool = False
    """x is the base-10 logarithm."""


@dataclass(frozen=True, slots=True)
class Points:
    """x positions of trials; values and markers are in `plotted`."""

    x: list[float]
    plotted: PlottedTrials
    param: str = ""

    def __len__(self) -> int:
        return len(self.x)

    def text(self, index: int) -> str:
        """Parameter name and value of a point."""
        trial = self.plotted.trials[index]
        return f"{self.param} {format_value(trial.params[self.param])}" if self.param else "value"


NO_POINTS = Points([], PlottedTrials([], [], [], []))


def history_points(read: ReadStudy, objective: int) -> Points:
    """Points by trial number."""
    plotted = read.plotted[objective]
    return Points([trial.number for trial in plotted.trials], plotted)


def setting_of(read: ReadStudy, param: str) -> Setting:
    trials = read.study.trials
    if param not in read.numeric:
        texts = {format_value(trial.params[param]) for trial in trials if param in trial.params}
        return Setting(choices=tuple(sorted(texts)))
    is_log = param in read.study.log_params
    return Setting(is_log=is_log and all(trial.params.get(param, 1) > 0 for trial in trials))


def setting_points(read: ReadStudy, objective: int, param: str, setting: Setting) -> Points:
    """Points by the value of a parameter."""
    plotted = read.plotted[objective]
    if any(param not in trial.params for trial in plotted.trials):
        plotted = _with_param(param, plotted)
    values = [trial.params[param] for trial in plotted.trials]
    if setting.choices:
        positions = {text: index for index, text in enumerate(setting.choices)}
        numbers = (trial.number for trial in plotted.trials)
        x = [
            _jittered(positions[format_value(value)], index)
            for value, index in zip(values, numbers, strict=True)
        ]
    else:
        x = list(map(math.log10 if setting.is_log else float, values))
    return Points(x, plotted, param)


def _with_param(param: str, plotted: PlottedTrials) -> PlottedTrials:
    indexes = [index for index, trial in enumerate(plotted.trials) if param in trial.params]

    def select(items: list[Any]) -> list[Any]:
        return [items[index] for index in indexes]

    return PlottedTrials(
        select(plotted.trials),
        select(plotted.values),
        select(plotted.is_pruned),
        select(plotted.is_best),
    )


def _jittered(position: int, number: int) -> float:
    return position + (number * 3 % _OFFSETS - _OFFSETS // 2) / _OFFSETS * _SPREAD
