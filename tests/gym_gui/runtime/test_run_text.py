"""Texts about runs, and formatted numbers."""

import math

import msgspec
import pytest

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_decimal, format_rate
from mosaic.contract.formatting import format_clock
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
def test_format_decimal(value: float | None, expected: str) -> None:
    """Two decimals; a small number has an exponent instead of `0.00`."""
    assert format_decimal(value) == expected


def test_rates_and_durations() -> None:
    """Rates and durations are short enough for a column."""
    assert format_rate(812.4) == "812 /s"
    assert format_rate(3120.0) == "3.1 k/s"
    assert format_rate(None) == ""
    assert format_clock(41) == "00:41"
    assert format_clock(3 * 3600 + 12 * 60 + 7) == "3:12:07"
    assert format_clock(2 * 86400 + 4 * 3600) == "2 d 4 h"


def test_worker_label() -> None:
    """The display name of a worker without its descriptor."""
    assert run_text.worker_label("cleanrl_worker") == "CleanRL"
    assert run_text.worker_label("spade_bdi_rl_worker") == "Spade BDI RL"


def test_end_text_does_not_repeat_the_state() -> None:
    """A reason that starts with the state replaces it."""
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
    other = msgspec.structs.replace(
        run, state=RunState.FAILED, reason="No memory.", remedy="Use less."
    )
    assert run_text.end_text(other) == "failed. No memory. Use less."
    assert run_text.end_text(msgspec.structs.replace(run, reason="")) == "stopped."


def test_actor_label() -> None:
    """A saved policy is named after its run, with the short id of the runs list."""
    assert run_text.actor_label("01M7JC1H0G4377E6FS4AGQ0NYH.e174f0c4a7dd") == "policy GQ0NYH"
    assert run_text.actor_label("human") == "you"
    assert run_text.actor_label("cleanrl_worker") == "cleanrl worker"
