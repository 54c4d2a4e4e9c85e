"""Runs that go: into an archive, out of one, or away. This is what the daemon calls."""

from mosaic.trainer.artifacts.archive_format import ArchiveError, NoRoomError, RunExistsError
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.artifacts.run_import import ImportedRun, import_run
from mosaic.trainer.artifacts.run_removal import clean_leftovers, delete_run

__all__ = [
    "ArchiveError",
    "ImportedRun",
    "NoRoomError",
    "RunExistsError",
    "clean_leftovers",
    "delete_run",
    "export_run",
    "import_run",
]
