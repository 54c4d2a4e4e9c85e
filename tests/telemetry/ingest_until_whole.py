"""A process that ingests a run until its spool is whole: the one that the tests kill.

Usage: python ingest_until_whole.py RUN_DIRECTORY. A file named `whole` in the directory says that
no more lines will come.
"""

import sys
import time
from pathlib import Path

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.service import TelemetryService

POLL_S = 0.02

run = RunDirectory(Path(sys.argv[1]))
with TelemetryService(run) as service:
    is_whole = False
    while not is_whole:
        was_over = (run.path / "whole").exists()  # asked before reading
        while service.ingest():
            pass
        is_whole = was_over and service.finish()
        time.sleep(0 if is_whole else POLL_S)
