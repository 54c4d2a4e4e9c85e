"""Numbers, times and ids as people read them in a table."""

import math
import time
from collections.abc import Callable

from mosaic.contract.formatting import format_count, format_duration, format_size
from mosaic.contract.runs import RunRecord

_SHORT_ID_LETTERS = 8
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_FOUR_DIGITS, _TOO_LONG = 9_999.5, 1e12


def short_id(run_id: str) -> str:
    """The end of an id: random letters, enough to name the run among thousands."""
    return run_id[-_SHORT_ID_LETTERS:]


count = format_count


def amount(number: int, noun: str) -> str:
    """`1 step`, `2,000 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


size = format_size


def real(number: float | None) -> str:
    """A return or a metric."""
    if number is None:
        return ""
    if not math.isfinite(number):
        return str(number)
    is_long = _FOUR_DIGITS <= abs(number) < _TOO_LONG
    return f"{number:,.0f}" if is_long else f"{number:.4g}"


duration = format_duration


def age(since: float, clock: Callable[[], float] = time.time) -> str:
    """How long ago, in one unit."""
    seconds = max(0.0, clock() - since)
    for unit, length in (("d", _DAY), ("h", _HOUR), ("m", _MINUTE)):
        if seconds >= length:
            return f"{seconds // length:.0f}{unit}"
    return f"{seconds:.0f}s"


def moment(t: float | None) -> str:
    """A time of day, with its date."""
    return "" if t is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(t))


def run_time(run: RunRecord, clock: Callable[[], float] = time.time) -> float | None:
    """How long a run has run, in seconds; None when it never started."""
    if run.started_at is None:
        return None
    return max(0.0, (clock() if run.ended_at is None else run.ended_at) - run.started_at)


def title(run: RunRecord) -> str:
    """What a run is, in a few words."""
    what = " ".join(part for part in (run.worker, run.algo, run.env_id) if part)
    return f"{run.name} ({what})" if run.name else what
