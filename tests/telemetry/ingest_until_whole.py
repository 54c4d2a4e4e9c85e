"""A process that ingests a run until its spool is whole: the one that the tests kill.

Usage: python ingest_until_whole.py RUN_DIRECTORY. A file named `whole` in the directory says that
no more lines will come.
"""

import sys
from pathlib import Path

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.follow import follow
from mosaic.telemetry.service import TelemetryService

run = RunDirectory(Path(sys.argv[1]))
with TelemetryService(run) as service:
    follow(service, is_over=(run.path / "whole").exists)
