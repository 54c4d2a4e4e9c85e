"""Recorded by `test_run_import.py`: an archive is imported; the argument is its path."""

import sys
from pathlib import Path

from mosaic.contract import atomic_file
from mosaic.contract.layout import Home
from mosaic.trainer.artifacts.run_import import import_run
from tests.hostile.power_cut.recording import mark


def main(root: Path, archive: Path, max_synced_files: int) -> None:
    atomic_file._MAX_SYNCED_FILES = max_synced_files
    imported = import_run(Home(root / "home"), iter([archive.read_bytes()]))
    mark(imported.run_id)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
