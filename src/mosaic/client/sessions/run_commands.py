"""RunCommands: the daemon calls of a session, with connection state, leases and pending cancels.

Used by `SessionEngine`, on the session thread only. Every call may raise `TrainerError`.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.client.sessions.followed_run import FollowedRun
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunDetails, RunRecord

_log = logging.getLogger(__name__)

_REJECTED_STATUS = "FAILED_PRECONDITION"
_CANCEL_RETRY_S = 1.0

Answer = TypeVar("Answer")


class RunCommands:
    """Commands for the runs of one session."""

    def __init__(self, client: TrainerClient) -> None:
        self.is_connected = True
        """Whether the daemon answered the last call."""
        self._client = client
        self._pending_cancels: dict[str, str] = {}
        """Runs that are no longer needed, each with the reason."""
        self._next_cancel_at = 0.0

    def submit(self, config: TrainRunConfig) -> RunRecord:
        return self._call(lambda: self._client.submit(config))

    def get_details(self, run_id: str) -> RunDetails:
        return self._call(lambda: self._client.run(run_id))

    def send(self, run: FollowedRun, command: Mapping[str, Any]) -> int:
        """Send a command and return its number. Sending also renews the lease."""
        seq = self._call(lambda: self._client.control(run.run_id, command))
        run.schedule_renewal(time.monotonic(), is_renewed=True)
        return seq

    def resume(self, run: FollowedRun) -> None:
        """Resume the run, also if its worker paused without the daemon."""
        if run.state.run is not None and run.state.run.state is RunState.PAUSED:
            self.change_state(run, self._client.resume, {RunState.RUNNING})
        else:
            self.send(run, {"cmd": "resume"})

    def stop(self, run: FollowedRun) -> None:
        reason = "Stopped by the user."
        expected = {RunState.STOPPING, *FINAL_STATES}
        self.change_state(run, lambda run_id: self._client.cancel(run_id, reason=reason), expected)

    def renew_lease_if_due(self, run: FollowedRun, now: float) -> float | None:
        """Return when the lease has to be renewed next; None if the run needs no renewal."""
        due = run.next_renewal()
        if due is None or due > now:
            return due
        try:
            run.update_record(self._call(lambda: self._client.renew_lease(run.run_id)))
        except UserError as error:
            _log.info("C216 lease of run %s could not be renewed: %s", run.run_id, error)
            run.schedule_renewal(now, is_renewed=False)
        else:
            run.schedule_renewal(now, is_renewed=True)
        return run.next_renewal()

    def cancel_soon(self, run_id: str, reason: str) -> None:
        """Cancel a run that is no longer needed as soon as the daemon is reachable."""
        self._pending_cancels[run_id] = reason
        self._next_cancel_at = 0.0

    def run_pending_cancels(self, now: float) -> float | None:
        """Cancel what is due and return when to try again; None if nothing is left."""
        while self._pending_cancels and now >= self._next_cancel_at:
            run_id, reason = next(iter(self._pending_cancels.items()))
            try:
                self._cancel(run_id, reason)
            except DaemonUnreachableError:
                self._next_cancel_at = now + _CANCEL_RETRY_S
                break
            except UserError as error:
                _log.info("C217 run %s was not cancelled: %s", run_id, error)
            del self._pending_cancels[run_id]
        return self._next_cancel_at if self._pending_cancels else None

    def _cancel(self, run_id: str, reason: str) -> RunRecord:
        return self._call(lambda: self._client.cancel(run_id, reason=reason))

    def change_state(
        self, run: FollowedRun, call: Callable[[str], RunRecord], expected: set[RunState]
    ) -> None:
        """Change the state of a run; a rejection is fine if the run is in that state already."""
        try:
            with self._connection_tracked():
                record = call(run.run_id)
            run.update_record(record)
        except TrainerError as error:
            if error.status != _REJECTED_STATUS:
                raise
            record = self.get_details(run.run_id).run
            run.update_record(record)
            if record.state not in expected:
                raise

    def _call(self, call: Callable[[], Answer]) -> Answer:
        with self._connection_tracked():
            return call()

    @contextmanager
    def _connection_tracked(self) -> Iterator[None]:
        """Set `is_connected` by the outcome of a call."""
        try:
            yield
        except DaemonUnreachableError:
            self.is_connected = False
            raise
        except UserError:
            self.is_connected = True
            raise
        self.is_connected = True
