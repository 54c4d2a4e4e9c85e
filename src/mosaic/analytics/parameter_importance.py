"""Importance of the parameters of a study, from its trials: no model, no random numbers.

The trials are ranked by their value. Each parameter divides them into groups, by its choices or
into quantiles, and the share of the variance of the ranks between the groups is its importance: the
effect size of the Kruskal-Wallis test, corrected for chance. Ranks limit the influence of a
diverged trial. A parameter that only matters in interaction with another one is not detected.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MIN_TRIALS = 10
_MAX_GROUPS = 6
_TRIALS_PER_GROUP = 5


@dataclass(frozen=True, slots=True)
class Importance:
    """Importance of one parameter, from 0 (none) to 1 (determines the value)."""

    parameter: str
    share: float
    trials: int
    """Number of trials with the parameter and a value."""


def parameter_importance(
    trials: Sequence[tuple[Mapping[str, Any], float]],
) -> tuple[Importance, ...]:
    """Return the importance of each parameter, most important first.

    `trials` are pairs of parameters and value. Parameters that are constant, or that occur in fewer
    than `MIN_TRIALS` trials, are omitted.
    """
    valid = [(params, value) for params, value in trials if not math.isnan(value)]
    names = sorted({name for params, _ in valid for name in params})
    importances: list[Importance] = []
    for name in names:
        pairs = [(params[name], value) for params, value in valid if name in params]
        share = _explained_share(pairs) if len(pairs) >= MIN_TRIALS else None
        if share is not None:
            importances.append(Importance(name, share, len(pairs)))
    return tuple(sorted(importances, key=lambda item: (-item.share, item.parameter)))


def _explained_share(pairs: Sequence[tuple[Any, float]]) -> float | None:
    """Return the explained share; None if there is only one group."""
    groups = _assign_groups([setting for setting, _ in pairs])
    ranks = compute_ranks([value for _, value in pairs])
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
    between = sum(
        len(group_ranks) * (sum(group_ranks) / len(group_ranks) - mean) ** 2
        for group_ranks in members.values()
    )
    explained = between / total
    by_chance = (number - 1) / (count - 1)
    return max(0.0, (explained - by_chance) / (1 - by_chance))


def _assign_groups(settings: Sequence[Any]) -> list[int]:
    """Return the group of each trial."""
    distinct = {_to_hashable(setting) for setting in settings}
    is_ordered = all(_is_number(setting) for setting in settings)
    max_groups = max(2, min(_MAX_GROUPS, len(settings) // _TRIALS_PER_GROUP))
    if not is_ordered or len(distinct) <= max_groups:
        numbers = {setting: number for number, setting in enumerate(sorted(distinct, key=repr))}
        return [numbers[_to_hashable(setting)] for setting in settings]
    # Trials with the same setting have the same rank and stay in one group.
    return [
        min(max_groups - 1, int((rank - 0.5) / len(settings) * max_groups))
        for rank in compute_ranks([float(setting) for setting in settings])
    ]


def _is_number(setting: Any) -> bool:
    return isinstance(setting, int | float) and not isinstance(setting, bool)


def _to_hashable(setting: Any) -> Any:
    """A choice may be a list or a mapping."""
    return repr(setting) if isinstance(setting, list | dict) else setting


def compute_ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 1; equal values get the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for position in range(start, end + 1):
            ranks[order[position]] = (start + end) / 2 + 1
        start = end + 1
    return ranks
