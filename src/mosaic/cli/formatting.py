"""Numbers, times and ids as text for tables; sizes and durations are in `contract.formatting`."""

import math
import time
from collections.abc import Callable

from mosaic.contract.runs import RunRecord

_SHORT_ID_CHARACTERS = 8
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400
_MIN_GROUPED, _MIN_SCIENTIFIC = 9_999.5, 1e12


def short_id(run_id: str) -> str:
    """Return the end of an id: random characters, unique among thousands of runs."""
    return run_id[-_SHORT_ID_CHARACTERS:]


def pluralize(number: int, noun: str) -> str:
    """`1 step`, `2,000 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_number(number: float | None) -> str:
    """A return or a metric in four digits; empty for None."""
    if number is None:
        return ""
    if not math.isfinite(number):
        return str(number)
    is_grouped = _MIN_GROUPED <= abs(number) < _MIN_SCIENTIFIC
    return f"{number:,.0f}" if is_grouped else f"{number:.4g}"


def format_age(since: float, clock: Callable[[], float] = time.time) -> str:
    """The time since a timestamp, in one unit: `5m`."""
    seconds = max(0.0, clock() - since)
    for unit, length_s in (("d", _DAY_S), ("h", _HOUR_S), ("m", _MINUTE_S)):
        if seconds >= length_s:
            return f"{seconds // length_s:.0f}{unit}"
    return f"{seconds:.0f}s"


def format_time(t: float | None) -> str:
    """A timestamp as local date and time; empty for None."""
    return "" if t is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(t))


def run_duration_s(run: RunRecord, clock: Callable[[], float] = time.time) -> float | None:
    """Return how long a run has been running; None if it never started."""
    if run.started_at is None:
        return None
    return max(0.0, (clock() if run.ended_at is None else run.ended_at) - run.started_at)


def run_title(run: RunRecord) -> str:
    """Return the run's name with its worker, algorithm and environment."""
    description = " ".join(part for part in (run.worker, run.algo, run.env_id) if part)
    return f"{run.name} ({description})" if run.name else description
