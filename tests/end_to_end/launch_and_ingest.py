"""A stand-in for the daemon: starts a run unless it was started, ingests it, and ends with it.

Usage: python launch_and_ingest.py RUN_DIRECTORY. The run's config.json is already there.
"""

import sys
import time
from pathlib import Path

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.service import TelemetryService
from mosaic.trainer.processes.launcher import launch
from mosaic.trainer.processes.run_process import NotStarted, Running, observe

POLL_S = 0.02

run = RunDirectory(Path(sys.argv[1]))
if isinstance(observe(run), NotStarted):
    launch(run, [sys.executable, "-m", "echo_worker", "--config", str(run.config)])
with TelemetryService(run) as service:
    is_whole = False
    while not is_whole:
        was_over = not isinstance(observe(run), Running)  # asked before reading
        while service.ingest():
            pass
        is_whole = was_over and service.finish()
        time.sleep(0 if is_whole else POLL_S)
