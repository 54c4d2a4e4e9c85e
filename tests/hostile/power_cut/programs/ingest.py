"""Recorded by `test_ingest.py`: a worker appends lines while its run is ingested."""

import json
import os
import sys
from pathlib import Path

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry import service as telemetry_service
from mosaic.telemetry.service import TelemetryService
from tests.hostile.power_cut.recording import mark

RUN = "01J00000000000000000000000"
_ROUNDS = 24
_LINES_PER_ROUND = 7


def line(number: int) -> bytes:
    """One line of the spool; each fifth one is not a valid event."""
    padding = "x" * (number * 37 % 900)
    if number % 5 == 3:
        return f"garbage {number} {padding}\n".encode()
    event: dict[str, object] = {
        "type": "step",
        "episode_id": "e0",
        "step": number,
        "action": 0,
        "reward": 1.0,
        "terminated": False,
        "truncated": False,
        "obs": padding,
    }
    if number % 5 == 4:
        event = {"type": "log", "level": "info", "code": "X1", "message": f"{number} {padding}"}
    return json.dumps(event).encode() + b"\n"


def main(root: Path) -> None:
    telemetry_service._CHECKPOINT_EVERY_COMMITS = 3
    run = RunDirectory(root / RUN)
    run.path.mkdir()
    spool = os.open(run.spool, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    number = 0
    for rounds in (_ROUNDS // 2, _ROUNDS):
        with TelemetryService(run) as service:
            while number < rounds * _LINES_PER_ROUND:
                data = b"".join(line(n) for n in range(number, number + _LINES_PER_ROUND))
                split = number * 11 % len(data)  # in the middle of a line
                for piece in (data[:split], data[split:]):
                    os.write(spool, piece)
                    service.ingest()
                number += _LINES_PER_ROUND
    os.fsync(spool)  # as the supervisor does
    with TelemetryService(run) as service:
        mark(service.finish())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
