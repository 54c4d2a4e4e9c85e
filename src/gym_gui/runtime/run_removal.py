"""Asking the daemon to delete runs, one after the other. `RunDeletions` calls this."""

import logging
import threading
from collections.abc import Collection
from typing import TYPE_CHECKING

from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_log = logging.getLogger(__name__)


def delete_runs(client: "TrainerClient", run_ids: Collection[str]) -> dict[str, UserError]:
    """Blocking. Those that the daemon keeps, and why."""
    rejected: dict[str, UserError] = {}
    for run_id in run_ids:
        try:
            client.delete(run_id)
        except UserError as error:
            _log.warning("C354 run %s could not be deleted: %s", run_id, error)
            rejected[run_id] = error
    return rejected


def start_deleting(client: "TrainerClient", run_ids: Collection[str]) -> threading.Thread:
    """On a thread of its own, when the window closes: tasks that have not begun would be lost."""
    thread = threading.Thread(
        target=delete_runs, args=(client, tuple(run_ids)), name="last deletions", daemon=True
    )
    thread.start()
    return thread
