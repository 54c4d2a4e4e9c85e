"""The folders in which the daemon looks for workers: the setting `worker_folders`."""

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.daemon_settings import load_settings
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS

SETTING = "worker_folders"
_LIST = re.compile(rf"^[ \t]*{SETTING}[ \t]*=[ \t]*\[", re.MULTILINE)
_NO_SUCH_WORKER = "T130"


class WorkerFolders:
    """The folders in which the daemon of a home looks for workers.

    Raises `UserError` for invalid settings.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.own = load_settings(home.settings, {}).own_worker_folders

    def has(self, folder: Path) -> bool:
        """Return whether the daemon looks in this folder."""
        known = (CHECKOUT_WORKERS, *self.own)
        return any(other.resolve() == folder.resolve() for other in known)

    def location_of(self, worker_id: str) -> Path | None:
        """Return where a worker with that id exists, usable or not."""
        catalog = WorkerCatalog((CHECKOUT_WORKERS, *self.own))
        workers = (worker for worker in catalog.scan() if worker.worker_id == worker_id)
        return next((worker.location for worker in workers), None)

    def add(self, folder: Path) -> bool:
        """Add the folder to the settings; False if the file can only be edited by hand.

        The rest of the file is not changed.
        """
        path = self._home.settings
        before = path.read_bytes().decode("utf-8") if path.is_file() else ""
        value = json.dumps(str(folder), ensure_ascii=False)
        match = _LIST.search(before)
        if match:
            text = f"{before[: match.end()]}{value}, {before[match.end() :]}"
        else:
            separator = "" if not before or before.endswith("\n") else "\n"
            text = f"{before}{separator}{SETTING} = [{value}]\n"
        expected = tomllib.loads(before)
        expected[SETTING] = [str(folder), *expected.get(SETTING, [])]
        if not _parses_as(text, expected):
            return False
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Resolved, so that a symbolic link is not replaced by a file.
        write_atomically(path.resolve(), text.encode())
        return True


def _parses_as(text: str, expected: dict[str, object]) -> bool:
    try:
        return tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        return False


def is_unknown_worker(error: UserError) -> bool:
    """Return whether the daemon reports that there is no such worker."""
    return error.code == _NO_SUCH_WORKER


@contextmanager
def suggest_daemon_restart(home: Home, worker: str) -> Iterator[None]:
    """Suggest a restart if the daemon does not know a worker that the settings include by now.

    Other errors are not changed.
    """
    try:
        yield
    except UserError as error:
        location = WorkerFolders(home).location_of(worker) if is_unknown_worker(error) else None
        if location is None:
            raise
        raise UserError(
            f"The daemon does not know {worker} yet, which is in {location}.",
            remedy="Run `mosaic daemon stop`; the next daemon finds it. Runs keep running.",
            code=error.code,
        ) from error
