"""kill -9 at any moment: nothing lost, nothing twice, in order."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from tests.telemetry.conftest import Spool, as_line, step

_INGESTER = Path(__file__).with_name("ingest_until_whole.py")
_LINES = 200_000
_KILLS = 25


@pytest.mark.process
def test_killing_the_ingester_loses_nothing(run: RunDirectory, spool: Spool) -> None:
    """200,000 lines, the ingester killed 25 times at random moments while they come."""
    chooser = random.Random(20)
    lines = [
        as_line(step(n // 4, f"e{n % 4}-{n // 4_000}", obs=n))
        if n % 10
        else as_line({"type": "metric", "name": "m", "value": n, "step": n})
        for n in range(_LINES)
    ]
    lines[77_777] = b"garbage in between"
    command = [sys.executable, str(_INGESTER), str(run.path)]
    portion = len(lines) // _KILLS
    for start in range(0, len(lines), portion):
        ingester = subprocess.Popen(command)
        for at in range(start, start + portion, portion // 8):
            spool.write(*lines[at : min(at + portion // 8, start + portion)])
        # A moment between the very start of the process and the end of this portion.
        try:
            ingester.wait(chooser.uniform(0.0, 0.5))
        except subprocess.TimeoutExpired:
            ingester.kill()
        ingester.wait()
    (run.path / "whole").touch()
    assert subprocess.run(command, timeout=120, check=False).returncode == 0
    with TelemetryReader(run) as reader:
        stats = reader.stats()
        steps, cursor = [], -1
        while found := reader.steps_after(cursor):
            steps += [item.step.obs for item in found]
            cursor = found[-1].seq
        curve = reader.curve("m", max_points=_LINES)
        rejects = [reject.text for reject in reader.rejects()]
    assert steps == [n for n in range(_LINES) if n % 10 and n != 77_777]
    assert curve.y == [float(n) for n in range(0, _LINES, 10)]
    assert rejects == ["garbage in between"]
    assert stats.lines == _LINES
    assert stats.committed_bytes == stats.spool_bytes
    assert stats.duplicate_steps == 0
