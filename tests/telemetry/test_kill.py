"""SIGKILL at any time: no line is lost, repeated or reordered."""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.contract.events import StepRecord
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from tests.telemetry.conftest import Spool, as_line, step

_INGESTER = Path(__file__).with_name("ingest_until_complete.py")
_LINES = 200_000
_EPISODES = 20_000


@pytest.mark.process
def test_killing_the_ingester_loses_no_line(run: RunDirectory, spool: Spool) -> None:
    """200,000 lines; the ingester is killed 25 times at random times."""
    lines = [
        as_line(step(n // 4, f"e{n % 4}-{n // 4_000}", obs=n))
        if n % 10
        else as_line({"type": "metric", "name": "m", "value": n, "step": n})
        for n in range(_LINES)
    ]
    lines[77_777] = b"garbage in between"
    _ingest_with_kills(run, spool, lines, kills=25)
    with TelemetryReader(run) as reader:
        stats = reader.stats()
        steps = [record.obs for record in _stored_steps(reader)]
        curve = reader.curve("m", max_points=_LINES)
        rejects = [reject.text for reject in reader.rejects()]
    assert steps == [n for n in range(_LINES) if n % 10 and n != 77_777]
    assert curve.y == [float(n) for n in range(0, _LINES, 10)]
    assert rejects == ["garbage in between"]
    assert stats.lines == _LINES
    assert stats.committed_bytes == stats.spool_bytes
    assert stats.duplicate_steps == 0


@pytest.mark.process
def test_short_episodes_are_stored_exactly_once(run: RunDirectory, spool: Spool) -> None:
    """20,000 episodes of one line each; the ingester is killed 10 times."""
    _ingest_with_kills(
        run,
        spool,
        [
            as_line(
                {
                    "type": "episode",
                    "episode_id": f"ep{n}",
                    "steps": 2,
                    "return": 1,
                    "episode": n,
                    "actions": [n, n],
                    "rewards": [0, 1],
                }
            )
            for n in range(_EPISODES)
        ],
        kills=10,
    )
    with TelemetryReader(run) as reader:
        stats = reader.stats()
        steps = [record.action for record in _stored_steps(reader)]
        ends = reader.events_after(-1, "episode", limit=2 * _EPISODES)
    assert steps == [n // 2 for n in range(2 * _EPISODES)]
    assert (stats.episodes, len(ends)) == (_EPISODES, _EPISODES)
    assert stats.duplicate_steps == 0
    assert stats.committed_bytes == stats.spool_bytes


def _stored_steps(reader: TelemetryReader) -> Iterator[StepRecord]:
    cursor = -1
    while page := reader.steps_after(cursor):
        yield from (item.step for item in page)
        cursor = page[-1].seq


def _ingest_with_kills(run: RunDirectory, spool: Spool, lines: list[bytes], kills: int) -> None:
    """Write the lines while ingesters are killed at random times, then let one finish."""
    rng = random.Random(20)
    command = [sys.executable, str(_INGESTER), str(run.path)]
    portion = len(lines) // kills
    for start in range(0, len(lines), portion):
        ingester = subprocess.Popen(command)
        for first in range(start, start + portion, portion // 8):
            spool.write(*lines[first : min(first + portion // 8, start + portion)])
        # Kill at a random time between the start of the process and the end of this portion.
        try:
            ingester.wait(rng.uniform(0.0, 0.5))
        except subprocess.TimeoutExpired:
            ingester.kill()
        ingester.wait()
    (run.path / "complete").touch()
    assert subprocess.run(command, timeout=120, check=False).returncode == 0
