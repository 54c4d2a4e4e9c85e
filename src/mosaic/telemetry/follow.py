"""Following a run's spool to its end."""

import time
from collections.abc import Callable

from mosaic.telemetry.service import IngestStatus, TelemetryService

_POLL_S = 0.02
_POLL_BLOCKED_S = 0.25


def follow(
    service: TelemetryService,
    is_over: Callable[[], bool],
    on_progress: Callable[[IngestStatus], None] = lambda _: None,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Ingest until `is_over` says that no more lines will come and all of them are stored.

    While something is in the way, `on_progress` is told of it and the next try waits.
    """
    while True:
        # Asked before reading: what was written before the end is read after it.
        was_over = is_over()
        taken = service.ingest()
        on_progress(service.status())
        if taken:
            continue
        if was_over and service.finish():
            on_progress(service.status())
            return
        wait(_POLL_BLOCKED_S if service.status().blockage else _POLL_S)
