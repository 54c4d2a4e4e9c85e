"""Telling a shortage of open files from a place that has no workers."""

import errno
import os
from collections.abc import Iterable
from importlib.metadata import MetadataPathFinder

from mosaic.contract.errors import UserError


def expect_no_shortage(error: OSError) -> None:
    """Raises `UserError` when `error` says that no more files can be opened."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        raise UserError(
            "Workers cannot be looked for: too many files are open.",
            remedy="Close some views or stop some runs; or raise `ulimit -n` and start the daemon"
            " again.",
            code="T139",
        ) from error


def expect_listable(places: Iterable[str]) -> None:
    """Raises `UserError` when folders of distributions could not be listed for want of files.

    The standard library takes a folder that it cannot list for an empty one, and remembers that.
    """
    for place in places:
        try:
            os.close(os.open(place or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                MetadataPathFinder().invalidate_caches()
            expect_no_shortage(error)
