"""The command line of a run that does not exist yet, for people to see before it starts."""

from pathlib import Path

from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.worker_manifest import WorkerManifest


def planned_config(home: Home) -> Path:
    """Where the configuration would be; the id is made when the run is submitted."""
    return RunDirectory(home.runs / "<run id>").config


def planned_command(home: Home, manifest: WorkerManifest, bundle: str) -> tuple[str, ...]:
    """What would be run once `bundle` is installed; its folder's name ends with a hash."""
    python = home.venvs / bundle / "bin" / "python" if bundle else Path("python")
    return (str(python), "-m", manifest.module, "--config", str(planned_config(home)))
