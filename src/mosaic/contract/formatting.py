"""Sizes, durations and numbers as text, for the command line and the window.

Every function is pure. None becomes an empty text where the parameter accepts it.
"""

import math

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400
_THOUSAND = 1000.0
_ROUNDS_UP = 999.5
"""From here on three significant digits would round up to the next unit."""
_MIN_INTEGRAL = 100


def format_size(size_bytes: float) -> str:
    """Format a number of bytes with three significant digits: `512 B`, `1.5 MB`, `2.31 TB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if size_bytes < _ROUNDS_UP:
            return f"{size_bytes:.3g} {unit}"
        size_bytes /= _THOUSAND
    return f"{size_bytes:.3g} TB" if size_bytes < _ROUNDS_UP else f"{size_bytes:,.0f} TB"


def format_duration(seconds: float | None) -> str:
    """Format a duration with its two largest units: `45s`, `3m 20s`, `2h 05m`, `4d 3h`."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    total_s = round(max(0.0, seconds))
    if total_s < _MINUTE_S:
        return f"{total_s}s"
    if total_s < _HOUR_S:
        return f"{total_s // _MINUTE_S}m {total_s % _MINUTE_S:02d}s"
    if total_s < _DAY_S:
        return f"{total_s // _HOUR_S}h {total_s % _HOUR_S // _MINUTE_S:02d}m"
    return f"{total_s // _DAY_S}d {total_s % _DAY_S // _HOUR_S}h"


def format_clock(seconds: float | None) -> str:
    """Format a duration like a stopwatch: `00:41`, `3:12:07`, `2 d 4 h`."""
    if seconds is None:
        return ""
    total_s = int(seconds)
    if total_s >= _DAY_S:
        return f"{total_s // _DAY_S} d {total_s % _DAY_S // _HOUR_S} h"
    minutes = f"{total_s % _HOUR_S // _MINUTE_S:02d}:{total_s % _MINUTE_S:02d}"
    return f"{total_s // _HOUR_S}:{minutes}" if total_s >= _HOUR_S else minutes


def format_count(number: float | None) -> str:
    """Format a count with a unit prefix: `812`, `1.2k`, `3.4M`."""
    if number is None:
        return ""
    for unit in ("", "k", "M"):
        if abs(number) < _THOUSAND:
            return f"{number:.0f}" if not unit else f"{number:.3g}{unit}"
        number /= _THOUSAND
    return f"{number:.3g}G"


def format_amount(value: float) -> str:
    """Format a number with a space and a unit prefix, to append a unit: `812 `, `3.1 k`."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < _THOUSAND or unit == "G":
            break
        value /= _THOUSAND
    digits = f"{value:.0f}" if not unit or abs(value) >= _MIN_INTEGRAL else f"{value:.1f}"
    return f"{digits} {unit}"
