"""Ending a run's worker, with proof that nothing of it is left."""

import signal
import time
from contextlib import suppress

from mosaic.contract.control import Stop
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import StartedRecord
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.run_members import end_members, members_of, still_alive
from mosaic.trainer.processes.run_process import Lost, Running, RunProcess, observe
from mosaic.trainer.processes.supervisor_lock import supervisor_absence

# Longer than the supervisor needs to end what the worker leaves behind.
_KILL_PATIENCE_S = 30.0
_LOOK_S = 0.1


class Grace:
    """How long a worker may take to obey. Any thread may shorten it, or call the ending off."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_called_off = False

    def hurry(self, seconds: float) -> None:
        self.seconds = min(self.seconds, seconds)

    def call_off(self) -> None:
        """Leave the worker as it is; somebody else goes on later."""
        self.is_called_off = True


def end_worker(
    run_dir: RunDirectory, grace: Grace | float = 10.0, *, stop_seq: int = 0
) -> RunProcess:
    """`stop` to the worker, SIGTERM to its group after `grace`, SIGKILL after that again.

    Returns when no process of the run is left: exited, lost if the supervisor went first, or still
    running if only the supervisor is left, waiting for room on the disk to record the exit.
    Does nothing to a run that has no worker, and nothing more once the ending is called off.
    """
    grace = grace if isinstance(grace, Grace) else Grace(grace)
    process = observe(run_dir)
    if not isinstance(process, Running):
        return settle_lost(run_dir, grace.seconds) if isinstance(process, Lost) else process
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is None:
            with suppress(UserError):  # a worker that takes no command gets the signal instead
                send_command(run_dir, Stop(seq=stop_seq))
        else:
            process.worker.send_to_group(number)
        process.worker.send_to_group(signal.SIGCONT)  # paused, it could not obey
        if _ends_in_time(process, grace, is_killed=number is signal.SIGKILL):
            break
        if grace.is_called_off:
            return process
    return _proven_end(run_dir, process.started, grace.seconds)


def _ends_in_time(process: Running, grace: Grace, *, is_killed: bool) -> bool:
    began = time.monotonic()
    while not grace.is_called_off:
        patience_s = _KILL_PATIENCE_S if is_killed else grace.seconds
        left_s = began + patience_s - time.monotonic()
        if process.supervisor.wait(min(max(left_s, 0.0), _LOOK_S)):
            return True
        if left_s <= 0:
            break
    return False


def settle_lost(run_dir: RunDirectory, grace_s: float = 5.0) -> RunProcess:
    """Ends what is left of a run whose supervisor vanished; only then is the run `Lost`.

    Any other run is left alone and its state returned.
    """
    with supervisor_absence(run_dir) as absent:
        process = observe(run_dir)
        if absent and isinstance(process, Lost):
            end_members(run_dir, process.started, grace_s)
        return process


def _proven_end(run_dir: RunDirectory, started: StartedRecord, grace_s: float) -> RunProcess:
    process = settle_lost(run_dir, grace_s)
    left = members_of(run_dir, started)
    if left:
        raise still_alive(run_dir, left)
    return process
