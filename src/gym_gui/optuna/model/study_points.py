"""What the plots of a study draw: its trials as points, by their number or by a parameter."""

import math
from dataclasses import dataclass
from typing import Any

from gym_gui.optuna.feed import DrawnTrials, ReadStudy
from gym_gui.runtime.models.value_text import in_words

_SPREAD = 0.36
_PLACES = 7
"""Points with the same choice stand at so many places beside each other."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One parameter as the bottom axis shows it."""

    choices: tuple[str, ...] = ()
    """Of one that is no number."""
    is_log: bool = False
    """Points stand at the logarithm to the base of ten."""


@dataclass(frozen=True, slots=True)
class Points:
    """Where the trials stand on the x axis; what they are at and look like is in `drawn`."""

    x: list[float]
    drawn: DrawnTrials
    param: str = ""

    def __len__(self) -> int:
        return len(self.x)

    def words(self, at: int) -> str:
        """What the x axis says of a point, in full."""
        trial = self.drawn.trials[at]
        return f"{self.param} {in_words(trial.params[self.param])}" if self.param else "value"


NO_POINTS = Points([], DrawnTrials([], [], [], []))


def history_points(read: ReadStudy, objective: int) -> Points:
    """Each trial at its number."""
    drawn = read.drawn[objective]
    return Points([trial.number for trial in drawn.trials], drawn)


def setting_of(read: ReadStudy, param: str) -> Setting:
    trials = read.study.trials
    if param not in read.numeric:
        texts = {in_words(trial.params[param]) for trial in trials if param in trial.params}
        return Setting(choices=tuple(sorted(texts)))
    is_log = param in read.study.log_params
    return Setting(is_log=is_log and all(trial.params.get(param, 1) > 0 for trial in trials))


def setting_points(read: ReadStudy, objective: int, param: str, setting: Setting) -> Points:
    """Each trial that has the parameter, at its value."""
    drawn = read.drawn[objective]
    if any(param not in trial.params for trial in drawn.trials):
        drawn = _those_with(param, drawn)
    values = [trial.params[param] for trial in drawn.trials]
    if setting.choices:
        places = {text: at for at, text in enumerate(setting.choices)}
        numbers = (trial.number for trial in drawn.trials)
        x = [
            _beside(places[in_words(value)], at) for value, at in zip(values, numbers, strict=True)
        ]
    else:
        x = list(map(math.log10 if setting.is_log else float, values))
    return Points(x, drawn, param)


def _those_with(param: str, drawn: DrawnTrials) -> DrawnTrials:
    kept = [at for at, trial in enumerate(drawn.trials) if param in trial.params]

    def those(all_of_them: list[Any]) -> list[Any]:
        return [all_of_them[at] for at in kept]

    return DrawnTrials(
        those(drawn.trials), those(drawn.values), those(drawn.is_pruned), those(drawn.is_best)
    )


def _beside(place: int, number: int) -> float:
    return place + (number * 3 % _PLACES - _PLACES // 2) / _PLACES * _SPREAD
