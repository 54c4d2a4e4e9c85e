"""Figures of runs in words."""

import math

import msgspec
import pytest

from gym_gui.runtime.models import run_text
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord


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
    assert run_text.number(value) == expected


def test_rates_and_durations() -> None:
    """Short enough for a column."""
    assert run_text.rate(812.4) == "812 /s"
    assert run_text.rate(3120.0) == "3.1 k/s"
    assert run_text.rate(None) == ""
    assert run_text.duration(41) == "00:41"
    assert run_text.duration(3 * 3600 + 12 * 60 + 7) == "3:12:07"
    assert run_text.duration(2 * 86400 + 4 * 3600) == "2 d 4 h"


def test_workers_by_the_names_people_use() -> None:
    """Not by those of their packages."""
    assert run_text.worker_label("cleanrl_worker") == "CleanRL"
    assert run_text.worker_label("spade_bdi_rl_worker") == "Spade BDI RL"


def test_how_a_run_ended_is_said_once() -> None:
    """A reason that begins with the same word stands for it."""
    run = RunRecord(
        run_id="01J0000000000000000000000A",
        worker="echo_worker",
        mode="train",
        env_id="Echo-v0",
        seed=1,
        state=RunState.CANCELLED,
        created_at=0.0,
        reason="stopped in the window",
    )
    assert run_text.end_text(run) == "stopped in the window."
    other = msgspec.structs.replace(run, state=RunState.FAILED, reason="No memory.", remedy="Rest.")
    assert run_text.end_text(other) == "failed. No memory. Rest."
    assert run_text.end_text(msgspec.structs.replace(run, reason="")) == "stopped."
