"""Figures of runs in words."""

import math

import pytest

from gym_gui.models import run_words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (0.0, "0.00"),
        (-12.0, "\N{MINUS SIGN}12.00"),
        (1234.5, "1,234.50"),
        (1e-5, "1e\N{MINUS SIGN}05"),
        (math.nan, "NaN"),
        (-math.inf, "\N{MINUS SIGN}∞"),
    ],
)
def test_numbers(value: float | None, expected: str) -> None:
    """Two digits, unless that would hide what there is."""
    assert run_words.number(value) == expected


def test_rates_and_durations() -> None:
    """Short enough for a column."""
    assert run_words.rate(812.4) == "812 /s"
    assert run_words.rate(3120.0) == "3.1 k/s"
    assert run_words.rate(None) == ""
    assert run_words.duration(41) == "00:41"
    assert run_words.duration(3 * 3600 + 12 * 60 + 7) == "3:12:07"
    assert run_words.duration(2 * 86400 + 4 * 3600) == "2 d 4 h"


def test_workers_by_the_names_people_use() -> None:
    """Not by those of their packages."""
    assert run_words.worker_word("cleanrl_worker") == "CleanRL"
    assert run_words.worker_word("spade_bdi_rl_worker") == "Spade BDI RL"
