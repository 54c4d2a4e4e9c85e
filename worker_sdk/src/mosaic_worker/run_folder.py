"""The run's directory, also after its home was moved while the run is active."""

from __future__ import annotations

import os
from pathlib import Path


class RunFolder:
    """Follows the directory by its identity: a worker is started in it, and a move keeps that."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._status: os.stat_result | None = path.stat()
        except OSError:  # it does not exist yet: only its name is known
            self._status = None

    @property
    def path(self) -> Path:
        """Where the directory is now; its last known path if the worker has left it."""
        if not self._is_at(self._path):
            try:
                current = Path.cwd()
            except FileNotFoundError:  # it was removed
                return self._path
            if self._is_at(current):
                self._path = current
        return self._path

    def _is_at(self, path: Path) -> bool:
        try:
            return self._status is not None and os.path.samestat(path.stat(), self._status)
        except OSError:
            return False
