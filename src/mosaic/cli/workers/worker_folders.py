"""Where a new worker is put, and how the daemon comes to look there: `worker_folders`."""

import json
import re
import tomllib
from pathlib import Path

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.layout import Home
from mosaic.trainer.settings import load_settings
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS

SETTING = "worker_folders"
_LIST = re.compile(rf"^[ \t]*{SETTING}[ \t]*=[ \t]*\[", re.MULTILINE)


class WorkerFolders:
    """The folders in which the daemon of a home looks for workers. Raises `UserError`."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.own = load_settings(home.settings, {}).own_worker_folders

    def has(self, folder: Path) -> bool:
        """Whether a worker in this folder is found."""
        known = (CHECKOUT_WORKERS, *self.own)
        return any(each.resolve() == folder.resolve() for each in known)

    def place_of(self, worker_id: str) -> Path | None:
        """Where a worker of that id is already, usable or not."""
        catalog = WorkerCatalog((CHECKOUT_WORKERS, *self.own))
        places = (each.location for each in catalog.scan() if each.worker_id == worker_id)
        return next(places, None)

    def add(self, folder: Path) -> bool:
        """Name the folder in the settings; False where only a person can edit them.

        Whatever else stands in the file stays as it is.
        """
        path = self._home.settings
        before = path.read_bytes().decode("utf-8") if path.is_file() else ""
        written = json.dumps(str(folder), ensure_ascii=False)
        found = _LIST.search(before)
        if found:
            text = f"{before[: found.end()]}{written}, {before[found.end() :]}"
        else:
            separator = "" if not before or before.endswith("\n") else "\n"
            text = f"{before}{separator}{SETTING} = [{written}]\n"
        wanted = tomllib.loads(before)
        wanted[SETTING] = [str(folder), *wanted.get(SETTING, [])]
        if not _says(text, wanted):
            return False
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A link, to a file that is kept elsewhere, stays one.
        write_atomically(path.resolve(), text.encode())
        return True


def _says(text: str, wanted: dict[str, object]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False
