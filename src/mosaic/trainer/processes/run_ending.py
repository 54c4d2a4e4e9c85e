"""Ending a run's worker, with proof that nothing of it is left."""

import signal
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


def end_worker(run_dir: RunDirectory, grace_s: float = 10.0, *, stop_seq: int = 0) -> RunProcess:
    """`stop` to the worker, SIGTERM to its group after `grace_s`, SIGKILL after `grace_s` more.

    Returns when no process of the run is left: exited, lost if the supervisor went first, or still
    running if only the supervisor is left, waiting for room on the disk to record the exit.
    Does nothing to a run that has no worker.
    """
    process = observe(run_dir)
    if not isinstance(process, Running):
        return settle_lost(run_dir, grace_s) if isinstance(process, Lost) else process
    for number, patience_s in (
        (None, grace_s),
        (signal.SIGTERM, grace_s),
        (signal.SIGKILL, _KILL_PATIENCE_S),
    ):
        if number is None:
            with suppress(UserError):  # a worker that takes no command gets the signal instead
                send_command(run_dir, Stop(seq=stop_seq))
        else:
            process.worker.send_to_group(number)
        process.worker.send_to_group(signal.SIGCONT)  # paused, it could not obey
        if process.supervisor.wait(patience_s):
            break
    return _proven_end(run_dir, process.started, grace_s)


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
