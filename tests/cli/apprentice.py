"""`mosaic` on a home with the apprentice, a worker for tests."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.mosaic_cli import Mosaic

WORKER = "apprentice_worker"


@contextlib.contextmanager
def with_apprentice(folder: Path) -> Iterator[Mosaic]:
    """Starts a daemon, and stops everything afterwards."""
    made = Mosaic(folder)
    made.home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
    workers = Path(__file__).parent / "workers"
    made.home.settings.write_text(f"worker_folders = [{json.dumps(str(workers))}]\n")
    try:
        made.ok("daemon", "start")
        yield made
    finally:
        made.clean_up()
