"""JSONL: the lines of the protocol, as they are stored, for every episode."""

import math

import msgspec
import pytest

from mosaic.contract.decode import decode
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.replay.export.export_request import ExportFormat, ExportResult
from tests.replay.export.conftest import Export
from tests.replay.stand_in import StandInClient

JSONL = ExportFormat.JSONL
ENVIRONMENT = b'{"type":"environment","env_id":"CartPole-v1"}'


def kinds(result: ExportResult) -> list[str]:
    lines = result.path.read_bytes().splitlines()
    assert result.lines == len(lines)
    return [msgspec.json.decode(line)["type"] for line in lines]


def test_complete_episode(export: Export) -> None:
    """Environment, start, every step and end."""
    client = StandInClient(steps=10)
    client.environment_json = ENVIRONMENT
    result = export(client, JSONL)
    assert kinds(result) == ["environment", "episode_start", *["step"] * 10, "episode"]
    lines = result.path.read_bytes().splitlines()
    details = client.episode("RUN", 0)
    assert lines[0] == ENVIRONMENT
    assert lines[1] == details.start_json
    assert lines[-1] == details.end_json
    assert [decode(line) for line in lines[2:-1]] == client.records


def test_range_excludes_episode_line(export: Export) -> None:
    """The `episode` line belongs to the last step."""
    client = StandInClient(steps=10)
    result = export(client, JSONL, first_step=3, last_step=5)
    assert kinds(result) == ["episode_start", "step", "step", "step"]
    assert kinds(export(client, JSONL, first_step=8, overwrite=True))[-1] == "episode"


def test_episode_that_cannot_be_simulated(export: Export) -> None:
    """It is exported, too."""
    client = StandInClient()
    client.error = UserError("Not replayable.", remedy="")
    assert export(client, JSONL).lines == 12


def test_many_steps_are_fetched_in_several_calls(export: Export) -> None:
    """With gaps, and once each."""
    client = StandInClient(steps=5_000)
    client.records = [
        step for step in client.records if not 1_000 <= step.step < 3_500
    ] + client.records[-1:]
    lines = export(client, JSONL).path.read_bytes().splitlines()[1:-1]
    numbers = [msgspec.json.decode(line)["step"] for line in lines]
    assert numbers == [*range(1_000), *range(3_500, 5_000)]


def test_non_finite_numbers(export: Export) -> None:
    """They round-trip."""
    client = StandInClient(steps=1)
    client.records[0].reward = math.inf
    client.records[0].obs = [1.0, math.nan]
    step = decode(export(client, JSONL).path.read_bytes().splitlines()[1])
    assert isinstance(step, StepRecord)
    assert step.reward == math.inf
    assert math.isnan(step.obs[1])


def test_range_outside_episode(export: Export) -> None:
    """It is rejected."""
    with pytest.raises(UserError, match="has 10"):
        export(StandInClient(steps=10), JSONL, first_step=10)
