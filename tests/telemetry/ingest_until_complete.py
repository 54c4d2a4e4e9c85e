"""Ingests a run until its spool is complete; the tests kill this process.

Usage: python ingest_until_complete.py RUN_DIRECTORY. When the directory has a file named
`complete`, no more lines are written.
"""

import sys
import time
from pathlib import Path

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.service import TelemetryService

POLL_S = 0.02

run = RunDirectory(Path(sys.argv[1]))
with TelemetryService(run) as service:
    is_finished = False
    while not is_finished:
        is_complete = (run.path / "complete").exists()  # before reading, or lines could be missed
        while service.ingest():
            pass
        is_finished = is_complete and service.finish()
        time.sleep(0 if is_finished else POLL_S)
