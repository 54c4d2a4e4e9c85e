"""Removing the frames of a run that is over: a replay makes every picture again.

Called before the end of a run is recorded, so that no run that is over has any, whenever the daemon
may have been killed.
"""

import logging
from contextlib import suppress

from mosaic.contract.layout import RunDirectory

_log = logging.getLogger(__name__)

_HALF_MADE = ".frames-*.tmp"


def remove_frames(run: RunDirectory) -> None:
    """The frame file, and what a worker left that died while it made a new one. Never raises."""
    leftovers = [run.frames]
    with suppress(OSError):
        leftovers += run.path.glob(_HALF_MADE)
    for path in leftovers:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:  # a folder of that name, a disk that cannot be written to
            _log.warning("T433 %s could not be removed: %s", path, error)
