"""A sweep that is paused: no trial begins, and the runs of its trials stand still with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.contract.run_states import RunState

if TYPE_CHECKING:
    from mosaic_worker import Run
    from sweep_worker.daemon_link import DaemonLink

CHILD_GOES_ON = "W229"
"""A run of a trial cannot be paused, and goes on while the sweep is paused."""

_LOOK_S = 0.25


def pause_with_children(run: Run, link: DaemonLink) -> None:
    """Returns at once unless the sweep is told to pause; then when it goes on or is to stop."""
    paused: set[str] = set()
    refused: set[str] = set()
    is_announced = False
    while run.is_pause_requested:
        # Again and again: a run that waited in the queue may begin only now.
        _pause_running(run, link, paused, refused)
        if not is_announced:
            run.emitter.status("paused")
            is_announced = True
        if run.wait(_LOOK_S):
            return
    for run_id in paused:
        _resume(link, run_id)
    if is_announced:
        run.emitter.status("running")


def _pause_running(run: Run, link: DaemonLink, paused: set[str], refused: set[str]) -> None:
    for run_id, record in link.children(run.id).items():
        if record.state is RunState.RUNNING and run_id not in paused | refused:
            (paused if _pause(run, link, run_id) else refused).add(run_id)


def _pause(run: Run, link: DaemonLink, run_id: str) -> bool:
    try:
        link.pause(run_id)
    except DaemonUnreachableError:
        raise
    except TrainerError as error:
        if not link.record(run_id).state.is_final:
            run.emitter.log(
                "warning", CHILD_GOES_ON, f"A trial's run cannot be paused: {error.message}"
            )
        return False
    return True


def _resume(link: DaemonLink, run_id: str) -> None:
    try:
        link.resume(run_id)
    except DaemonUnreachableError:
        raise
    except TrainerError:
        if link.record(run_id).state is RunState.PAUSED:
            raise
