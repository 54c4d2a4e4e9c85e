"""Numbers, times and ids as people read them in a table."""

import math
import time
from collections.abc import Callable

from mosaic.contract.runs import RunRecord

_SHORT_ID_LETTERS = 8
_THOUSAND = 1000.0
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_FOUR_DIGITS, _TOO_LONG = 9_999.5, 1e12


def short_id(run_id: str) -> str:
    """The end of an id: random letters, enough to name the run among thousands."""
    return run_id[-_SHORT_ID_LETTERS:]


def count(number: float | None) -> str:
    """`1.2k`, `3.4M`; nothing for None."""
    if number is None:
        return ""
    for unit in ("", "k", "M"):
        if abs(number) < _THOUSAND:
            return f"{number:.0f}" if not unit else f"{number:.3g}{unit}"
        number /= _THOUSAND
    return f"{number:.3g}G"


def amount(number: int, noun: str) -> str:
    """`1 step`, `2,000 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < _THOUSAND:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.3g} {unit}"
        number /= _THOUSAND
    return f"{number:.3g} TB"


def real(number: float | None) -> str:
    """A return or a metric."""
    if number is None:
        return ""
    if not math.isfinite(number):
        return str(number)
    is_long = _FOUR_DIGITS <= abs(number) < _TOO_LONG
    return f"{number:,.0f}" if is_long else f"{number:.4g}"


def duration(seconds: float | None) -> str:
    """`45s`, `3m 20s`, `2h 05m`, `4d 3h`."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    whole = round(max(0.0, seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02d}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02d}m"
    return f"{whole // _DAY}d {whole % _DAY // _HOUR}h"


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
