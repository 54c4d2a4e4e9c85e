"""Commands reach a worker as complete lines."""

import json
import math
from typing import Any

import pytest

from mosaic.contract import control
from mosaic.contract.control import MAX_COMMAND_BYTES, encode_command
from mosaic.contract.problems import DocumentError


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (control.Stop(seq=1), {"cmd": "stop", "seq": 1}),
        (control.Pause(seq=2), {"cmd": "pause", "seq": 2}),
        (control.Resume(seq=3), {"cmd": "resume", "seq": 3}),
        (control.Reset(seq=4, seed=7), {"cmd": "reset", "seq": 4, "seed": 7}),
        (control.Step(seq=5, count=2), {"cmd": "step", "seq": 5, "count": 2}),
        (control.Step(seq=5), {"cmd": "step", "seq": 5}),
        (control.Action(seq=6, value=[0.5, -1]), {"cmd": "action", "seq": 6, "value": [0.5, -1]}),
        (control.Takeover(seq=7), {"cmd": "takeover", "seq": 7}),
        (control.Release(seq=8), {"cmd": "release", "seq": 8}),
        (control.Speed(seq=9, value=2), {"cmd": "speed", "seq": 9, "value": 2}),
        (control.SetActor(seq=10, actor="a"), {"cmd": "set_actor", "seq": 10, "actor": "a"}),
        (control.Checkpoint(seq=11), {"cmd": "checkpoint", "seq": 11}),
    ],
)
def test_command_is_one_line(command: control.ControlCommand, line: dict[str, Any]) -> None:
    """Each command is one JSON object with its name and number."""
    encoded = encode_command(command)
    assert encoded.endswith(b"\n")
    assert encoded.count(b"\n") == 1
    assert json.loads(encoded) == line


def test_newlines_in_values_are_escaped() -> None:
    """A text action with a newline is still one line."""
    assert encode_command(control.Action(seq=1, value="a\nb")).count(b"\n") == 1


def test_limit_counts_the_newline() -> None:
    """A line of exactly the limit passes; one byte more is rejected with a remedy."""
    max_length = MAX_COMMAND_BYTES - len(encode_command(control.Action(seq=1, value="")))
    assert len(encode_command(control.Action(seq=1, value="x" * max_length))) == MAX_COMMAND_BYTES
    with pytest.raises(DocumentError, match=r"control command: .* 4097 bytes") as caught:
        encode_command(control.Action(seq=1, value="x" * (max_length + 1)))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (control.Action(seq=1, value=[0.0, math.nan]), "value[1]"),
        (control.Action(seq=1, value={1, 2}), "value"),
        (control.Stop(seq=-1), "seq"),
        (control.Speed(seq=1, value=-1.0), "value"),
        (control.Step(seq=1, count=0), "count"),
        (control.SetActor(seq=1, actor="a\nb"), "actor"),
    ],
)
def test_wrong_value_is_named(command: control.ControlCommand, field: str) -> None:
    """A value that cannot be encoded is rejected with its field."""
    with pytest.raises(DocumentError, match=r"C131 .*control command") as caught:
        encode_command(command)
    assert [problem.field for problem in caught.value.problems] == [field]
