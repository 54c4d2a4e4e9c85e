"""Groupings of the list of runs: the groups of a run, for `RunArrangement`."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple

from gym_gui.runtime.models import run_text
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

Grouping = Literal["none", "state", "worker", "environment", "algorithm", "tag", "day"]

_SORTS_LAST = "\U0010ffff"
_QUARTER_HOUR_S = 900
"""In every time zone, midnight is a multiple of a quarter of an hour."""


class Group(NamedTuple):
    """Groups are sorted by `sort_key`; `key` is unique within a grouping."""

    sort_key: str
    key: str
    title: str


_NO_GROUPS = (Group("", "", ""),)


@dataclass(frozen=True, slots=True)
class GroupRule:
    """A grouping: its name in the menu, and the groups a run belongs to."""

    name: str
    groups_of: Callable[[RunRecord], tuple[Group, ...]]


# Most runs share a few groups, so groups are cached.


@cache
def _state_groups(state: RunState) -> tuple[Group, ...]:
    style = run_text.STATE_STYLES[state]
    sort_key = f"{run_text.STATE_ORDER[state]:02d}"
    return (Group(sort_key, state, f"{style.symbol} {style.word}"),)


@lru_cache(maxsize=4096)
def _value_groups(value: str, title: str, fallback: str) -> tuple[Group, ...]:
    return (Group(title.casefold() if value else _SORTS_LAST, value, title if value else fallback),)


def _tag_groups(run: RunRecord) -> tuple[Group, ...]:
    """A run with several tags is in the group of each."""
    tags = tuple(group for tag in run.tags for group in _value_groups(tag, tag, ""))
    return tags or _value_groups("", "", "No tag")


def _created_day_groups(run: RunRecord) -> tuple[Group, ...]:
    return _day_groups(int(run.created_at // _QUARTER_HOUR_S), int(time.time() // _QUARTER_HOUR_S))


@lru_cache(maxsize=65536)
def _day_groups(then: int, now: int) -> tuple[Group, ...]:
    """`then` and `now` are in quarters of an hour since the epoch."""
    day, today = _day_of(then), _day_of(now)
    key = day.isoformat()
    # Newest first: later days have smaller sort keys.
    return (Group(f"{date.max.toordinal() - day.toordinal():07d}", key, _day_title(day, today)),)


def _day_of(quarter_hours: int) -> date:
    epoch_s = quarter_hours * _QUARTER_HOUR_S
    return datetime.fromtimestamp(epoch_s).date()  # noqa: DTZ006 - local time is intended


def _day_title(day: date, today: date) -> str:
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    return f"{day.day} {day:%B}" if day.year == today.year else f"{day.day} {day:%B %Y}"


GROUPINGS: Mapping[Grouping, GroupRule] = MappingProxyType(
    {
        "none": GroupRule("None", lambda _: _NO_GROUPS),
        "state": GroupRule("State", lambda run: _state_groups(run.state)),
        "worker": GroupRule(
            "Worker",
            lambda run: _value_groups(run.worker, run_text.worker_label(run.worker), "No worker"),
        ),
        "environment": GroupRule(
            "Environment", lambda run: _value_groups(run.env_id, run.env_id, "No environment")
        ),
        "algorithm": GroupRule(
            "Algorithm", lambda run: _value_groups(run.algo, run.algo, "No algorithm")
        ),
        "tag": GroupRule("Tag", _tag_groups),
        "day": GroupRule("Day", _created_day_groups),
    }
)
