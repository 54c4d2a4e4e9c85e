"""Whatever is killed, every complete line is stored exactly once."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.contract.run_config import load_run_config, to_json
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.processes.run_process import Exited, observe

_DAEMON = Path(__file__).with_name("launch_and_ingest.py")
_STEPS = 200_000
_KILLS = 25


@pytest.mark.process
def test_a_run_survives_the_death_of_its_launcher_and_ingester(tmp_path: Path) -> None:
    """200,000 lines; the process that launched the run is killed 25 times."""
    run = RunDirectory(tmp_path / new_ulid())
    run.path.mkdir()
    config = load_run_config(
        {
            "worker": "echo_worker",
            "algo": "echo",
            "env_id": "Echo-v0",
            "params": {"steps": _STEPS, "rate": 25_000, "garbage_every": 5_000, "exit_code": 7},
        }
    )
    write_atomically(run.config, to_json(config))
    command = [sys.executable, str(_DAEMON), str(run.path)]
    chooser = random.Random(5)
    kills = 0
    while kills < _KILLS or not isinstance(observe(run), Exited):
        daemon = subprocess.Popen(command)
        try:
            daemon.wait(chooser.uniform(0.05, 0.6))
        except subprocess.TimeoutExpired:
            daemon.kill()
        daemon.wait()
        kills += 1
    assert subprocess.run(command, timeout=60, check=False).returncode == 0

    process = observe(run)
    assert isinstance(process, Exited)
    assert (process.exit.exit_code, process.exit.signal) == (7, None)
    expect_every_line_once(run)


def expect_every_line_once(run: RunDirectory) -> None:
    spooled = run.spool.read_bytes().split(b"\n")
    assert spooled.pop() == b""
    with TelemetryReader(run) as reader:
        stats = reader.stats()
        lines: list[bytes] = []
        cursor = -1
        while chunks := reader.chunks_after("step", cursor):
            for chunk in chunks:
                lines += chunk.split()[max(cursor + 1 - chunk.first_seq, 0) :]
                cursor = chunk.first_seq + chunk.lines - 1
        rejects = list(reader.rejects())
    assert lines == [
        line for line in spooled if line.startswith(b'{"type":"step",') and is_json(line)
    ]
    assert stats.steps == len(lines) == _STEPS
    assert len(set(lines)) == _STEPS
    assert [reject.offset for reject in rejects] == sorted({reject.offset for reject in rejects})
    assert len(rejects) == stats.rejects > 0
    assert stats.lines == len(spooled)
    assert stats.committed_bytes == run.spool.stat().st_size


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
