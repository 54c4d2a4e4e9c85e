"""Several agents with the same episode ids, and many agents in one episode."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry import service as service_module
from mosaic.telemetry.database import open_for_reading
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.support.daemon import DaemonUnderTest


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    run = RunDirectory(tmp_path / new_ulid())
    run.path.mkdir()
    return run


def _write(run: RunDirectory, *events: dict[str, object]) -> None:
    with run.spool.open("a") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def _step(number: int, episode: str = "e", **fields: object) -> dict[str, object]:
    ends = {"terminated": False, "truncated": False}
    step = {"type": "step", "episode_id": episode, "step": number, "action": 0, "reward": 1.0}
    return {**step, **ends, **fields}


@pytest.mark.process
def test_shared_episode_ids_cause_a_warning(
    daemon: DaemonUnderTest, submit_attack: Callable[[str], str]
) -> None:
    """A warning names the number of episodes and the remedy."""
    record = daemon.until(submit_attack("shared_episodes"))
    assert record.state == "succeeded"
    assert any("3 episodes have lines of several agents" in text for text in record.warnings)


def test_each_episode_is_counted_once(run: RunDirectory) -> None:
    """Even if its lines arrive in several commits, with a restart between them."""
    for number in range(4):
        _write(run, _step(number, agent_id="a"), _step(number, agent_id="b"))
        with TelemetryService(run) as service:
            assert service.finish()
    with TelemetryReader(run) as reader:
        assert reader.counts().mixed_episodes == 1


def test_lines_without_an_agent_are_not_mixed(run: RunDirectory) -> None:
    """Lines without an agent belong to the agent of the others."""
    start: dict[str, object] = {"type": "episode_start", "episode_id": "e", "agent_id": "a"}
    _write(run, start, _step(0), _step(1, agent_id="a"))
    with TelemetryService(run) as service:
        assert service.finish()
    with TelemetryReader(run) as reader:
        assert reader.counts().mixed_episodes == 0


def test_a_new_agent_in_every_step(run: RunDirectory) -> None:
    """The row of the episode stays small with many agents; no step is lost."""
    _write(run, *(_step(number, agent_id=f"agent-{number}") for number in range(3_000)))
    with TelemetryService(run) as service:
        assert service.finish()
    with closing(sqlite3.connect(run.store)) as connection:
        (size,) = connection.execute("SELECT length(seen) FROM episode").fetchone()
    assert size < 4_000
    with TelemetryReader(run) as reader:
        assert reader.counts().steps == 3_000
        assert len(reader.steps_after(-1)) == 3_000


def test_a_blocking_reader_is_reported(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write-ahead log cannot be merged while a reader holds an old state of the store."""
    monkeypatch.setattr(service_module, "_MAX_WAL_BYTES", 100_000)
    monkeypatch.setattr(service_module, "_CHECKPOINT_EVERY_COMMITS", 5)
    _write(run, _step(0))
    with TelemetryService(run) as service:
        assert service.ingest()
        with closing(open_for_reading(run.store)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM event").fetchone()
            for number in range(1, 60):
                _write(run, _step(number, obs=[number] * 200))
                assert service.ingest()
            assert "telemetry.db-wal has grown" in service.status().store_problem
        for number in range(60, 80):
            _write(run, _step(number))
            assert service.ingest()
        assert service.status().store_problem == ""
