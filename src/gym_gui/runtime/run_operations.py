"""Operations on runs. Blocking; called on threads."""

import logging
import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from mosaic.client.demo_run import (
    DEMO_NAME,
    find_missing_bundle,
    make_echo_demo,
    make_learning_demo,
)
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = [
    "DEMO_NAME",
    "apply_to_runs",
    "delete_runs",
    "start_deletion_thread",
    "submit_echo_demo",
    "submit_learning_demo",
    "submit_or_find_missing",
]

_log = logging.getLogger(__name__)
_DEMO_STEPS, _DEMO_RATE = 20_000, 500
"""About 40 s, enough to watch beliefs, heat map and arrows."""
_ECHO_STEPS, _ECHO_RATE = 12_000, 60


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


def submit_or_find_missing(client: "TrainerClient") -> RunRecord | str:
    """Submit the learning demo, or return the bundle to install first."""
    return find_missing_bundle(client) or submit_learning_demo(client)


def submit_learning_demo(client: "TrainerClient") -> RunRecord:
    """Submit the learning demo; the run installs a missing bundle first."""
    return client.submit(make_learning_demo(steps=_DEMO_STEPS, rate=_DEMO_RATE))


def submit_echo_demo(client: "TrainerClient") -> RunRecord:
    """Submit a run of the echo worker, which needs no bundle."""
    return client.submit(make_echo_demo(steps=_ECHO_STEPS, rate=_ECHO_RATE))
