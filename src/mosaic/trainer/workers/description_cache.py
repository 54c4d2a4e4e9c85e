"""DescriptionCache: what workers answered to `--describe`, on disk, by the content of their code.

A daemon that starts finds the answers of the last one, and starts no process for a worker that has
not changed. Only complete answers are stored. A file that cannot be read or written is not an
error: the worker is asked again.
"""

import hashlib
import logging
from pathlib import Path

from mosaic import __version__
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.json_value import MAX_DOCUMENT_BYTES

_log = logging.getLogger(__name__)

MAX_FILES = 200
"""Every edit of a worker adds a file. The oldest files are removed."""


class DescriptionCache:
    """Answers in one folder. Any number of threads and processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> bytes | None:
        """The answer that was stored for `key`."""
        try:
            with self._path(key).open("rb") as file:
                return file.read(MAX_DOCUMENT_BYTES + 1)
        except OSError:
            return None

    def write(self, key: str, answer: bytes) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self._path(key), answer)
            self._remove_oldest()
        except (OSError, UserError) as error:
            _log.info("T138 a worker's description cannot be cached: %s", error)

    def _path(self, key: str) -> Path:
        # Another version of MOSAIC may read another descriptor out of the same answer.
        return self._folder / f"{hashlib.sha256(f'{__version__} {key}'.encode()).hexdigest()}.json"

    def _remove_oldest(self) -> None:
        by_age = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        for path in by_age[:-MAX_FILES]:
            path.unlink(missing_ok=True)
