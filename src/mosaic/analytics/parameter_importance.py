"""Which parameters of a study matter, from its trials alone: no model, no random numbers.

The trials are ranked by their value. Each parameter divides them into groups, by its choices or
into equally many from low to high, and the share of the ranks' variance that lies between the
groups is its importance: the effect size of the Kruskal-Wallis test, less what chance gives groups
of that number. Ranks keep one diverged trial from deciding. A parameter that matters only together
with another one does not show.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEAST_TRIALS = 10
_MOST_GROUPS = 6
_TRIALS_PER_GROUP = 5


@dataclass(frozen=True, slots=True)
class Importance:
    """Of one parameter: from 0, nothing, to 1, it decides alone."""

    parameter: str
    share: float
    trials: int
    """That have the parameter and a value."""


def parameter_importance(
    trials: Sequence[tuple[Mapping[str, Any], float]],
) -> tuple[Importance, ...]:
    """The parameters and the value of each trial; most important first.

    Parameters with the same value in all trials, or in fewer than `LEAST_TRIALS`, are left out.
    """
    known = [(params, value) for params, value in trials if not math.isnan(value)]
    names = sorted({name for params, _ in known for name in params})
    found: list[Importance] = []
    for name in names:
        pairs = [(params[name], value) for params, value in known if name in params]
        share = _share(pairs) if len(pairs) >= LEAST_TRIALS else None
        if share is not None:
            found.append(Importance(name, share, len(pairs)))
    return tuple(sorted(found, key=lambda each: (-each.share, each.parameter)))


def _share(pairs: Sequence[tuple[Any, float]]) -> float | None:
    """None when there is nothing to compare."""
    groups = _groups([setting for setting, _ in pairs])
    ranks = ranks_of([value for _, value in pairs])
    count, number = len(pairs), len(set(groups))
    if number < 2 or count <= number:
        return None
    mean = (count + 1) / 2
    total = sum((rank - mean) ** 2 for rank in ranks)
    if total == 0:
        return 0.0
    members: dict[int, list[float]] = defaultdict(list)
    for group, rank in zip(groups, ranks, strict=True):
        members[group].append(rank)
    between = sum(len(each) * (sum(each) / len(each) - mean) ** 2 for each in members.values())
    explained = between / total
    by_chance = (number - 1) / (count - 1)
    return max(0.0, (explained - by_chance) / (1 - by_chance))


def _groups(settings: Sequence[Any]) -> list[int]:
    """The group of each trial."""
    distinct = {_plain(setting) for setting in settings}
    is_ordered = all(_is_number(setting) for setting in settings)
    most = max(2, min(_MOST_GROUPS, len(settings) // _TRIALS_PER_GROUP))
    if not is_ordered or len(distinct) <= most:
        numbers = {setting: number for number, setting in enumerate(sorted(distinct, key=repr))}
        return [numbers[_plain(setting)] for setting in settings]
    # Trials with the same setting stay together: they have the same rank.
    return [
        min(most - 1, int((rank - 0.5) / len(settings) * most))
        for rank in ranks_of([float(setting) for setting in settings])
    ]


def _is_number(setting: Any) -> bool:
    return isinstance(setting, int | float) and not isinstance(setting, bool)


def _plain(setting: Any) -> Any:
    """A choice may be a list."""
    return repr(setting) if isinstance(setting, list | dict) else setting


def ranks_of(values: Sequence[float]) -> list[float]:
    """From 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in range(start, end + 1):
            ranks[order[place]] = (start + end) / 2 + 1
        start = end + 1
    return ranks
