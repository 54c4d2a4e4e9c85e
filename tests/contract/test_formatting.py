"""Sizes, durations and numbers as text."""

import pytest

from mosaic.contract.formatting import (
    format_amount,
    format_clock,
    format_count,
    format_duration,
    format_size,
)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (1_530_000, "1.53 MB"),
        (999_600, "1 MB"),
        (2_310_000_000_000, "2.31 TB"),
        (1_234_000_000_000_000, "1,234 TB"),
    ],
)
def test_size(size_bytes: int, text: str) -> None:
    """Three significant digits in the largest suitable unit, never an exponent."""
    assert format_size(size_bytes) == text


@pytest.mark.parametrize(
    ("seconds", "text", "clock"),
    [
        (None, "", ""),
        (41, "41s", "00:41"),
        (200, "3m 20s", "03:20"),
        (11_527, "3h 12m", "3:12:07"),
        (187_200, "2d 4h", "2 d 4 h"),
    ],
)
def test_duration(seconds: float | None, text: str, clock: str) -> None:
    """In units, and like a stopwatch."""
    assert format_duration(seconds) == text
    assert format_clock(seconds) == clock


def test_counts() -> None:
    """With a unit prefix, with and without a space before it."""
    assert [format_count(value) for value in (None, 812, 1_234, 3.4e6)] == [
        "",
        "812",
        "1.23k",
        "3.4M",
    ]
    assert [format_amount(value) for value in (812, 3_100, 250_000)] == ["812 ", "3.1 k", "250 k"]
