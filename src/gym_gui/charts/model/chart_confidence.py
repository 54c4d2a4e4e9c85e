"""How sure a mean over a few runs is: 95 % confidence by Student's t. Plain numbers."""

import math
from collections.abc import Sequence

_T_975 = (
    *(12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
"""By degrees of freedom from 1 on: seeds are few."""
_Z_975 = 1.96
_CORRECTION = 2.372
"""Beyond the table: the first term of the expansion of t around the normal distribution."""

LEAST_FOR_BAND = 3
"""Runs: of two, a band of confidence would be so wide that it says nothing."""
BAND_NOTE = "mean, band 95 % confidence (t)"
NO_BAND_NOTE = "mean, band from 3 runs on"
BAND_WORDS = "95 % confidence (Student's t over runs)"


def t_975(freedom: int) -> float:
    """NaN where there is nothing to be sure by."""
    if freedom < 1:
        return math.nan
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    return _Z_975 + _CORRECTION / freedom


def mean_and_half(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean, and how far the true one may be from it; None for a single value."""
    mean = sum(values) / len(values)
    freedom = len(values) - 1
    if freedom < 1:
        return mean, None
    variance = sum((value - mean) ** 2 for value in values) / freedom
    return mean, t_975(freedom) * math.sqrt(variance / len(values))
