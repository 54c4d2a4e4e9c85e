"""Metrics grouped by the prefix before the slash, the most important first."""

from collections.abc import Iterable
from dataclasses import dataclass

from gym_gui.charts.feed.curves import MetricKey

__all__ = ["MetricGroup", "MetricKey", "grouped", "matching", "name_of", "prefix_of"]

_FIRST_GROUPS = ("charts", "rollout", "episodes", "", "eval", "train", "losses", "time")
_FIRST_METRICS = ("return", "reward", "length", "sps", "fps")
_DEFAULT_TITLE = "Metrics"


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics with the same prefix."""

    prefix: str
    keys: tuple[MetricKey, ...]

    @property
    def title(self) -> str:
        return self.prefix or _DEFAULT_TITLE


def grouped(keys: Iterable[MetricKey], returns: MetricKey | None) -> tuple[MetricGroup, ...]:
    """Group metrics by prefix; the group with the returns comes first."""
    by_prefix: dict[str, list[MetricKey]] = {}
    for key in keys:
        by_prefix.setdefault(prefix_of(key), []).append(key)
    best = prefix_of(returns) if returns else None

    def rank(prefix: str) -> tuple[bool, int, str]:
        known = prefix in _FIRST_GROUPS
        index = _FIRST_GROUPS.index(prefix) if known else len(_FIRST_GROUPS)
        return (prefix != best, index, prefix)

    return tuple(
        MetricGroup(
            prefix,
            tuple(sorted(by_prefix[prefix], key=lambda key: (key != returns, _rank(key), key))),
        )
        for prefix in sorted(by_prefix, key=rank)
    )


def matching(groups: Iterable[MetricGroup], text: str) -> tuple[MetricGroup, ...]:
    """Metrics that contain every word of `text`."""
    terms = text.lower().split()
    matches = (
        MetricGroup(
            group.prefix,
            tuple(key for key in group.keys if all(term in _searched(key) for term in terms)),
        )
        for group in groups
    )
    return tuple(group for group in matches if group.keys)


def prefix_of(key: MetricKey) -> str:
    return key.name.rpartition("/")[0]


def name_of(key: MetricKey) -> str:
    """The name without the group, which the header shows."""
    name = key.name.rpartition("/")[2].replace("_", " ").strip() or key.name
    return f"{name} · {key.agent}" if key.agent else name


def _rank(key: MetricKey) -> int:
    name = key.name.lower()
    return next(
        (index for index, part in enumerate(_FIRST_METRICS) if part in name), len(_FIRST_METRICS)
    )


def _searched(key: MetricKey) -> str:
    return f"{key.name} {name_of(key)} {key.agent}".lower()
