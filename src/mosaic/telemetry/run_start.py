"""When a run started, for times that count from there."""

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import StartedRecord


def run_start_time(run: RunDirectory) -> float | None:
    """Seconds since the epoch; None when its record is missing or damaged."""
    try:
        started = StartedRecord.read(run.started)
    except UserError:
        return None
    return started.t if started else None
