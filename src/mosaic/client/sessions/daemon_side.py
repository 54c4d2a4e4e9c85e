"""DaemonSide: what a session asks of the daemon for its runs, and whether the daemon answers.

Used by `session.Session` on the session's thread alone. Every call may raise `TrainerError`.
"""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.client.sessions.followed_run import FollowedRun
from mosaic.client.trainer_client import TrainerClient
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunDetails, RunRecord

_log = logging.getLogger(__name__)

_REFUSED = "FAILED_PRECONDITION"
_END_AGAIN_S = 1.0

Answer = TypeVar("Answer")


class DaemonSide:
    """Of one session."""

    def __init__(self, client: TrainerClient) -> None:
        self.is_connected = True
        """Whether the last call was answered."""
        self._client = client
        self._to_be_ended: dict[str, str] = {}
        """Runs that nobody needs any more, each with the reason."""
        self._end_at = 0.0

    def submit(self, config: TrainRunConfig) -> RunRecord:
        return self._answered(lambda: self._client.submit(config))

    def look_up(self, run_id: str) -> RunDetails:
        return self._answered(lambda: self._client.run(run_id))

    def send(self, run: FollowedRun, command: Mapping[str, Any]) -> int:
        """The number of the command; sending holds the run too."""
        seq = self._answered(lambda: self._client.control(run.run_id, command))
        run.note_held(time.monotonic(), is_done=True)
        return seq

    def pause(self, run: FollowedRun) -> None:
        self._change(run, self._client.pause, {RunState.PAUSED})

    def resume(self, run: FollowedRun) -> None:
        """A worker may have paused by itself, of which the daemon knows nothing."""
        if run.state.run is not None and run.state.run.state is RunState.PAUSED:
            self._change(run, self._client.resume, {RunState.RUNNING})
        else:
            self.send(run, {"cmd": "resume"})

    def stop(self, run: FollowedRun) -> None:
        reason = "It was stopped by the person who played."
        wanted = {RunState.STOPPING, *FINAL_STATES}
        self._change(run, lambda run_id: self._client.cancel(run_id, reason=reason), wanted)

    def hold_if_due(self, run: FollowedRun, now: float) -> float | None:
        """When the run is to be held next; None when it needs no holding."""
        due = run.next_hold()
        if due is None or due > now:
            return due
        try:
            run.see(self._answered(lambda: self._client.hold(run.run_id)))
        except UserError as error:
            _log.info("C216 run %s could not be held: %s", run.run_id, error)
            run.note_held(now, is_done=False)
        else:
            run.note_held(now, is_done=True)
        return run.next_hold()

    def end_soon(self, run_id: str, reason: str) -> None:
        """Of a run that nobody needs: it is ended as soon as the daemon can be reached."""
        self._to_be_ended[run_id] = reason
        self._end_at = 0.0

    def end_what_is_due(self, now: float) -> float | None:
        """When to try again; None when nothing is left to be ended."""
        while self._to_be_ended and now >= self._end_at:
            run_id, reason = next(iter(self._to_be_ended.items()))
            try:
                self._cancel(run_id, reason)
            except DaemonUnreachableError:
                self._end_at = now + _END_AGAIN_S
                break
            except UserError as error:
                _log.info("C217 run %s needs no ending: %s", run_id, error)
            del self._to_be_ended[run_id]
        return self._end_at if self._to_be_ended else None

    def _cancel(self, run_id: str, reason: str) -> RunRecord:
        return self._answered(lambda: self._client.cancel(run_id, reason=reason))

    def _change(
        self, run: FollowedRun, call: Callable[[str], RunRecord], wanted: set[RunState]
    ) -> None:
        """To be refused because the run is like that already is as good."""
        try:
            run.see(self._answered(lambda: call(run.run_id)))
        except TrainerError as error:
            if error.status != _REFUSED:
                raise
            now = self.look_up(run.run_id).run
            run.see(now)
            if now.state not in wanted:
                raise

    def _answered(self, call: Callable[[], Answer]) -> Answer:
        try:
            answer = call()
        except DaemonUnreachableError:
            self.is_connected = False
            raise
        except UserError:
            self.is_connected = True
            raise
        self.is_connected = True
        return answer
