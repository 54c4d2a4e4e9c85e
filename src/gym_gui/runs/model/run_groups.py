"""Ways to group the list of runs. `RunsTable` asks under which headings a run stands."""

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

_LAST = "\U0010ffff"
_QUARTER_HOUR_S = 900
"""Days begin at a full one, whatever the time zone."""


class Group(NamedTuple):
    """Groups stand in the order of `place`; `key` is its own."""

    place: str
    key: str
    title: str


_ALL_IN_ONE = (Group("", "", ""),)


@dataclass(frozen=True, slots=True)
class Way:
    """A way to group: its name in the menu, and the groups a run belongs to."""

    name: str
    groups_of: Callable[[RunRecord], tuple[Group, ...]]


# Of ten thousand runs most have the same few groups: what they are is kept.


@cache
def _of_state(state: RunState) -> tuple[Group, ...]:
    look = run_text.STATE_STYLES[state]
    place = f"{run_text.STATE_ORDER[state]:02d}"
    return (Group(place, state, f"{look.symbol} {look.word}"),)


@lru_cache(maxsize=4096)
def _named(value: str, title: str, otherwise: str) -> tuple[Group, ...]:
    return (Group(title.casefold() if value else _LAST, value, title if value else otherwise),)


def _by_tag(run: RunRecord) -> tuple[Group, ...]:
    """A run with several tags stands under each."""
    tags = tuple(group for tag in run.tags for group in _named(tag, tag, ""))
    return tags or _named("", "", "No tag")


def _by_day(run: RunRecord) -> tuple[Group, ...]:
    return _of_moment(int(run.created_at // _QUARTER_HOUR_S), int(time.time() // _QUARTER_HOUR_S))


@lru_cache(maxsize=65536)
def _of_moment(then: int, now: int) -> tuple[Group, ...]:
    """Of quarters of an hour."""
    day, today = _day_of(then), _day_of(now)
    key = day.isoformat()
    # The newest first: places go down as days go up.
    return (Group(f"{date.max.toordinal() - day.toordinal():07d}", key, _day_word(day, today)),)


def _day_of(quarter_hours: int) -> date:
    moment = quarter_hours * _QUARTER_HOUR_S
    return datetime.fromtimestamp(moment).date()  # noqa: DTZ006 - by the clock on the wall


def _day_word(day: date, today: date) -> str:
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    return f"{day.day} {day:%B}" if day.year == today.year else f"{day.day} {day:%B %Y}"


WAYS: Mapping[Grouping, Way] = MappingProxyType(
    {
        "none": Way("None", lambda _: _ALL_IN_ONE),
        "state": Way("State", lambda run: _of_state(run.state)),
        "worker": Way(
            "Worker",
            lambda run: _named(run.worker, run_text.worker_label(run.worker), "No worker"),
        ),
        "environment": Way(
            "Environment", lambda run: _named(run.env_id, run.env_id, "No environment")
        ),
        "algorithm": Way("Algorithm", lambda run: _named(run.algo, run.algo, "No algorithm")),
        "tag": Way("Tag", _by_tag),
        "day": Way("Day", _by_day),
    }
)
