"""The recording of an episode, in every form in which a worker can write it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from mosaic.contract.episodes import EpisodeRecording
from mosaic.contract.events import EpisodeOrigin
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.telemetry.conftest import Line, Spool, step

Stored = Callable[[], TelemetryReader]

LAKE = {
    "type": "environment",
    "env_id": "FrozenLake-v1",
    "env_kwargs": {"is_slippery": True},
    "max_episode_steps": 100,
    "packages": {"gymnasium": "1.4.0"},
}
PCG64 = {"kind": "pcg64", "data": "1f:2e:0:0"}


def start(name: str = "e0", **more: object) -> dict[str, object]:
    return {"type": "episode_start", "episode_id": name, **more}


def end(steps: int, name: str = "e0", **more: object) -> dict[str, object]:
    return {"type": "episode", "episode_id": name, "steps": steps, "return": 1.0, **more}


def recorded(reader: TelemetryReader, episode: int = 0) -> EpisodeRecording:
    recording = reader.recording(episode)
    assert isinstance(recording, EpisodeRecording), recording
    return recording


def test_a_short_episode_is_one_line(spool: Spool, stored: Stored) -> None:
    """Start, columns and end on one line equal one line per step."""
    spool.write(
        LAKE,
        end(
            3,
            episode=0,
            start=PCG64,
            actions=[2, 1, [0]],
            rewards=[0.0, "NaN", 1.0],
            terminated=True,
            truncated=False,
        ),
    )
    reader = stored()
    recording = recorded(reader)
    assert recording.start == EpisodeOrigin(kind="pcg64", data="1f:2e:0:0")
    assert recording.actions == [2, 1, [0]]
    assert str(recording.rewards) == "[0.0, nan, 1.0]"
    assert (recording.terminated, recording.truncated, recording.is_over) == (True, False, True)
    assert (recording.env_id, recording.env_kwargs) == ("FrozenLake-v1", {"is_slippery": True})
    assert recording.max_episode_steps == 100
    steps = reader.steps(0)
    assert [record.terminated for record in steps] == [False, False, True]
    assert reader.stats().steps == 3
    details = reader.episode_details(0)
    assert details is not None
    assert details.not_replayable == ""
    assert details.end_json is not None
    assert b"actions" not in details.end_json  # stored only among the steps
    assert msgspec.json.decode(details.end_json)["start"] == PCG64


def test_columns_over_several_lines(spool: Spool, stored: Stored) -> None:
    """A long episode has several lines; the last columns may be on its end line."""
    spool.write(
        LAKE,
        start(seed=7),
        {"type": "steps", "episode_id": "e0", "first": 0, "actions": [0, 1], "rewards": [0, 1]},
        end(4, first=2, actions=[2, 3], rewards=[2, 3], truncated=True),
    )
    reader = stored()
    recording = recorded(reader)
    assert (recording.seed, recording.actions) == (7, [0, 1, 2, 3])
    assert recording.truncated
    assert [record.step for record in reader.steps(0, 1, 2)] == [1, 2]


def test_a_range_of_the_columns(spool: Spool, stored: Stored) -> None:
    """Only the last step has the end flags."""
    spool.write(
        LAKE,
        end(4, seed=1, actions=[5, 6, 7, 8], rewards=[0, 1, 2, 3], terminated=True),
        end(2, "too short", seed=1, actions=[5, 6, 7], rewards=[0, 1, 2], terminated=True),
    )
    reader = stored()
    ranges = [
        [(record.action, record.terminated) for record in reader.steps(0, n, n + 1)]
        for n in range(5)
    ]
    assert ranges == [
        [(5, False), (6, False)],
        [(6, False), (7, False)],
        [(7, False), (8, True)],
        [(8, True)],
        [],
    ]
    assert [record.terminated for record in reader.steps(1, 0, 1)] == [False, False]


def test_a_number_that_cannot_be_decoded(spool: Spool, stored: Stored) -> None:
    """In an unknown field it is stored unchanged, and ingest continues."""
    line = msgspec.json.encode(end(1, seed=1, actions=[1], rewards=[1.0]))
    spool.write(LAKE, line[:-1] + b',"own":1e999}', start("e1", seed=2), step(0, "e1"))
    reader = stored()
    assert recorded(reader).actions == [1]
    assert recorded(reader, 1).seed == 2
    details = reader.episode_details(0)
    assert details is not None
    assert details.end_json is not None
    assert b'"own":1e999' in details.end_json


def test_an_episode_that_is_still_running(
    run: RunDirectory, spool: Spool, ingest: Callable[[], None]
) -> None:
    """The recording is a consistent snapshot without later steps."""

    class IngestingReader(TelemetryReader):
        def _episode(self, ordinal: int) -> Any:
            episode = super()._episode(ordinal)
            spool.write(step(2), step(3, terminated=True), end(4, terminated=True))
            ingest()
            return episode

    spool.write(LAKE, start(seed=1), step(0), step(1))
    ingest()
    with IngestingReader(run) as reader:
        recording = recorded(reader)
    assert (len(recording.actions), recording.is_over) == (2, False)


def test_an_end_without_flags(spool: Spool, stored: Stored) -> None:
    """How the episode ended is unknown, so a replay has no end to compare with."""
    spool.write(
        LAKE,
        end(1, "e0", seed=1, actions=[1], rewards=[1.0]),
        end(1, "e1", seed=1, actions=[1], rewards=[1.0], truncated=False),
    )
    reader = stored()
    assert [recorded(reader, episode).is_over for episode in (0, 1)] == [False, True]


def test_the_tail_is_read_again_after_a_restart(run: RunDirectory, spool: Spool) -> None:
    """A restarted ingester resumes among lines that contain both steps and an end."""
    for number in range(5):
        spool.write(end(1, f"e{number}", episode=number, seed=number, actions=[1], rewards=[1.0]))
        with TelemetryService(run) as service:
            service.ingest()
    with TelemetryReader(run) as reader:
        assert [episode.steps for episode in reader.episodes()] == [1] * 5
        assert [record.action for record in reader.steps(3)] == [1]


def test_each_sub_environment_has_its_own_arguments(spool: Spool, stored: Stored) -> None:
    """They are on the last `environment` line with the same index before the episode."""
    spool.write(
        {**LAKE, "env_index": 0},
        {**LAKE, "env_index": 1, "env_kwargs": {"desc": ["SG"]}},
        start("a", env_index=1, seed=1),
        step(0, "a"),
        end(1, "a"),
        {**LAKE, "env_index": 1, "env_kwargs": {"desc": ["GS"]}},
        start("b", env_index=1, seed=1),
        step(0, "b"),
        start("c", env_index=0, seed=1, env_kwargs={"map_name": "8x8"}),
        step(0, "c"),
    )
    reader = stored()
    kwargs = [recorded(reader, episode).env_kwargs for episode in range(3)]
    assert kwargs == [{"desc": ["SG"]}, {"desc": ["GS"]}, {"map_name": "8x8"}]
    assert not recorded(reader, 1).is_over


def test_without_an_environment_line_the_configuration_is_used(
    spool: Spool, stored: Stored
) -> None:
    """Runs of workers that write no `environment` line can be replayed."""
    config = {"type": "config", "run_id": "r", "algo": "", "env_id": "CartPole-v1", "args": {}}
    spool.write(config, start(seed=1), step(0))
    assert recorded(stored()).env_id == "CartPole-v1"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([start(seed=1), step(0)], "environment"),
        ([LAKE, step(0)], "start state"),
        ([LAKE, start(), step(0)], "start state"),
        ([LAKE, start(seed=1), end(5)], "steps were not recorded"),
        ([LAKE, start(seed=1), step(0), step(2), end(3)], "Some of its steps"),
        ([LAKE, start(seed=1), step(0), step(0), end(1)], "Some of its steps"),
        ([LAKE, start(seed=1), step(0), end(2)], "Some of its steps"),
        ([LAKE, start(seed=1), step(0, agent_id="a"), step(0, agent_id="b")], "agents"),
        (
            [{**LAKE, "not_replayable": "It uses hardware."}, start(seed=1), step(0)],
            "It uses hardware.",
        ),
    ],
    ids=[
        "no-environment",
        "no-start-line",
        "no-seed",
        "no-steps",
        "gap",
        "duplicate",
        "truncated",
        "agents",
        "reported",
    ],
)
def test_an_episode_that_cannot_be_replayed_has_a_reason(
    spool: Spool, stored: Stored, lines: list[Line], reason: str
) -> None:
    """The details have it, and `recording` returns it."""
    spool.write(*lines)
    reader = stored()
    details = reader.episode_details(0)
    assert details is not None
    assert reason in details.not_replayable
    assert reader.recording(0) == details.not_replayable


def test_an_unknown_episode(spool: Spool, stored: Stored) -> None:
    """The result is None."""
    spool.write(LAKE)
    reader = stored()
    missing: Any = (reader.recording(3), reader.episode_details(3))
    assert missing == (None, None)
