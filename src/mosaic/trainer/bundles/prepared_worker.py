"""A worker with everything it needs to start: interpreter, packages, and a copy of its code."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mosaic.contract.runs import BundleUse


@dataclass(frozen=True, slots=True)
class PreparedWorker:
    """What a run is launched with, and what it records of it."""

    python: Path
    module: str
    code: Path
    use: BundleUse
    shared_folders: tuple[Path, ...] = ()
    """Code beside its own that it may import: MOSAIC's, of a worker that talks to the daemon."""

    def command(self, config: Path) -> tuple[str, ...]:
        """Starts the worker; no shell, and no script whose first line names a path."""
        return (str(self.python), "-m", self.module, "--config", str(config))

    def environment(self, own_folders: Sequence[str] = ()) -> dict[str, str]:
        """What the worker's environment needs beyond that of every worker.

        `own_folders` are a run's `python_path`, and come after the worker's own code.
        """
        folders = (str(self.code), *map(str, self.shared_folders), *own_folders)
        return {"PYTHONPATH": os.pathsep.join(folders)}
