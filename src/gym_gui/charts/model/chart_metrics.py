"""Metrics in the order people look for them, grouped by what stands before the slash."""

from collections.abc import Iterable
from dataclasses import dataclass

from gym_gui.charts.feed.curves import MetricKey

__all__ = ["MetricGroup", "MetricKey", "grouped", "matching", "name_of", "prefix_of"]

_FIRST_GROUPS = ("charts", "rollout", "episodes", "", "eval", "train", "losses", "time")
_FIRST_METRICS = ("return", "reward", "length", "sps", "fps")
_OTHERS = "Metrics"


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics of one prefix."""

    prefix: str
    keys: tuple[MetricKey, ...]

    @property
    def title(self) -> str:
        return self.prefix or _OTHERS


def grouped(keys: Iterable[MetricKey], returns: MetricKey | None) -> tuple[MetricGroup, ...]:
    """The group with the returns comes first, and they first in it."""
    found: dict[str, list[MetricKey]] = {}
    for key in keys:
        found.setdefault(prefix_of(key), []).append(key)
    best = prefix_of(returns) if returns else None

    def rank(prefix: str) -> tuple[bool, int, str]:
        known = prefix in _FIRST_GROUPS
        place = _FIRST_GROUPS.index(prefix) if known else len(_FIRST_GROUPS)
        return (prefix != best, place, prefix)

    return tuple(
        MetricGroup(
            prefix,
            tuple(sorted(found[prefix], key=lambda key: (key != returns, _rank(key), key))),
        )
        for prefix in sorted(found, key=rank)
    )


def matching(groups: Iterable[MetricGroup], text: str) -> tuple[MetricGroup, ...]:
    """Those with every word of `text` in them."""
    words = text.lower().split()
    narrowed = (
        MetricGroup(
            group.prefix,
            tuple(key for key in group.keys if all(word in _searched(key) for word in words)),
        )
        for group in groups
    )
    return tuple(group for group in narrowed if group.keys)


def prefix_of(key: MetricKey) -> str:
    return key.name.rpartition("/")[0]


def name_of(key: MetricKey) -> str:
    """Without its group, which stands above it."""
    name = key.name.rpartition("/")[2].replace("_", " ").strip() or key.name
    return f"{name} · {key.agent}" if key.agent else name


def _rank(key: MetricKey) -> int:
    name = key.name.lower()
    return next(
        (place for place, word in enumerate(_FIRST_METRICS) if word in name), len(_FIRST_METRICS)
    )


def _searched(key: MetricKey) -> str:
    return f"{key.name} {name_of(key)} {key.agent}".lower()
