"""Operations on several runs, one after the other. Blocking; called on threads."""

import logging
import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_log = logging.getLogger(__name__)


def apply_to_runs(run_ids: Collection[str], op: Callable[[str], object]) -> dict[str, UserError]:
    """Call `op` with each id; return the errors by id.

    If the daemon is unreachable, the remaining runs are not tried: each would wait for its timeout.
    """
    rejected: dict[str, UserError] = {}
    for run_id in run_ids:
        try:
            op(run_id)
        except DaemonUnreachableError as error:
            ids = list(run_ids)
            return rejected | dict.fromkeys(ids[ids.index(run_id) :], error)
        except UserError as error:
            rejected[run_id] = error
    return rejected


def delete_runs(client: "TrainerClient", run_ids: Collection[str]) -> dict[str, UserError]:
    """Delete runs; return the errors by id."""
    rejected: dict[str, UserError] = {}
    for run_id in run_ids:
        try:
            client.delete(run_id)
        except UserError as error:
            _log.warning("C354 run %s could not be deleted: %s", run_id, error)
            rejected[run_id] = error
    return rejected


def start_deletion_thread(client: "TrainerClient", run_ids: Collection[str]) -> threading.Thread:
    """Delete runs on a thread, when the window closes: pending tasks would be lost."""
    thread = threading.Thread(
        target=delete_runs, args=(client, tuple(run_ids)), name="run deletion", daemon=True
    )
    thread.start()
    return thread
