"""A stand-in for the daemon: starts a run unless it was started, ingests it, and ends with it.

Usage: python launch_and_ingest.py RUN_DIRECTORY. The run's config.json is already there.
"""

import sys
from pathlib import Path

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.follow import follow
from mosaic.telemetry.service import TelemetryService
from mosaic.trainer.processes.local_launcher import launch
from mosaic.trainer.processes.run_process import NotStarted, Running, observe

run = RunDirectory(Path(sys.argv[1]))
if isinstance(observe(run), NotStarted):
    launch(run, [sys.executable, "-m", "echo_worker", "--config", str(run.config)])
with TelemetryService(run) as service:
    follow(service, is_over=lambda: not isinstance(observe(run), Running))
