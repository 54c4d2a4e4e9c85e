"""Where helper processes work: a folder each, in the system's folder for temporary files.

Not in the run's directory, because environments write where they stand (MuJoCo its log), and a
replay leaves its run as it was.
"""

import hashlib
import os
import shutil
import tempfile
import threading
from pathlib import Path

from mosaic.contract.layout import Home


class ScratchFolders:
    """Of one home, which has one daemon. Safe from any thread."""

    def __init__(self, home: Home) -> None:
        digest = hashlib.sha256(os.fsencode(home.path)).hexdigest()[:12]
        self._prefix = f"mosaic-replay-{digest}-"
        self._lock = threading.Lock()
        self._is_cleared = False

    def make(self) -> "tempfile.TemporaryDirectory[str]":
        """A new one. Raises `OSError`."""
        with self._lock:
            if not self._is_cleared:
                self._is_cleared = True
                self._clear()
        return tempfile.TemporaryDirectory(prefix=self._prefix, ignore_cleanup_errors=True)

    def _clear(self) -> None:
        """Removes what a daemon has left that was killed."""
        for left in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            shutil.rmtree(left, ignore_errors=True)
