"""95 % confidence intervals of a mean over a few runs, by Student's t. Pure Python."""

import math
from collections.abc import Sequence

_T_975 = (
    *(12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
"""By degrees of freedom, starting at 1."""
_Z_975 = 1.96
_CORRECTION = 2.372
"""After the table: the first term of the expansion of t around the normal distribution."""

MIN_RUNS_FOR_BAND = 3
"""The confidence band of two runs would be too wide to be useful."""
BAND_NOTE = "mean and 95 % confidence band (t)"
NO_BAND_NOTE = "mean; band needs 3 runs"
BAND_TEXT = "95 % confidence (Student's t over runs)"


def t_975(freedom: int) -> float:
    """The 97.5 % quantile; NaN without degrees of freedom."""
    if freedom < 1:
        return math.nan
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    return _Z_975 + _CORRECTION / freedom


def mean_and_half(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean and half the width of its confidence interval; None for a single value."""
    mean = sum(values) / len(values)
    freedom = len(values) - 1
    if freedom < 1:
        return mean, None
    variance = sum((value - mean) ** 2 for value in values) / freedom
    return mean, t_975(freedom) * math.sqrt(variance / len(values))
