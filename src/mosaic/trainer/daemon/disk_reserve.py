"""The disk reserve: space that a daemon releases when it starts on a full disk.

A start writes a token, an address, a log and the journal of the registry. Without space for them,
nothing could be deleted through the daemon to free some. The reserve is filled again at the next
start or stop with enough free space.
"""

import logging
import os
import shutil
from contextlib import suppress

from mosaic.contract.layout import Home
from mosaic.contract.regular_files import open_regular, regular_size

_log = logging.getLogger(__name__)

RESERVE_BYTES = 4 << 20
_MIN_FREE_BYTES = 4 << 20
"""With less than this a start may fail."""
_FILL_FREE_BYTES = 4 * RESERVE_BYTES
"""The reserve never takes the last space of a disk."""


def release_reserve(home: Home) -> bool:
    """Release the reserve if the disk is full; returns whether it did. Never raises."""
    if _free_bytes(home) >= _MIN_FREE_BYTES or not regular_size(home.disk_reserve):
        return False
    try:
        home.disk_reserve.unlink()
    except OSError:
        return False
    return True


def fill_reserve(home: Home) -> None:
    """Fill the reserve if there is enough free space. Never raises."""
    if regular_size(home.disk_reserve) or _free_bytes(home) < _FILL_FREE_BYTES:
        return
    try:
        descriptor = open_regular(home.disk_reserve, os.O_WRONLY | os.O_CREAT)
        try:
            os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
        finally:
            os.close(descriptor)
    except OSError as error:
        _log.warning("T164 no disk space could be reserved: %s", error)
        with suppress(OSError):
            home.disk_reserve.unlink(missing_ok=True)


def _free_bytes(home: Home) -> int:
    try:
        return shutil.disk_usage(home.trainer).free
    except OSError:
        return 0
