"""RunLease: pauses and stops an interactive run whose client has disappeared.

A run whose configuration has `lease_s` is paused when no client has renewed its lease for that
time, and stopped when none does so for the same time again. The first client that renews a lapsed
lease resumes the run. A pause by the user is not resumed by renewing, and does not prevent the
stop.

Used by `run_controller.RunController`, on the event loop.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum

from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.registry.errors import StateConflictError, UnknownRunError

_log = logging.getLogger(__name__)

_CHECKS_PER_LEASE = 4
_MAX_CHECK_INTERVAL_S = 10.0
_MIN_JUMP_S = 1.0
"""Delays up to this are caused by load, not by a suspended machine."""
_RETRY_S = 2.0

_LAPSED = "No client has held it"
"""How the reason of such a pause starts, by which a later daemon recognizes it."""


class LeaseState(Enum):
    """The state of a lease."""

    HELD = "held"
    LAPSED = "lapsed"
    OVER = "over"


class LeaseTimer:
    """The state of a lease over time. Callers pass the time."""

    def __init__(self, lease_s: float, now: float, *, has_lapsed: bool = False) -> None:
        self.check_interval_s = min(lease_s / _CHECKS_PER_LEASE, _MAX_CHECK_INTERVAL_S)
        self._lease_s = lease_s
        self._renewed_at = now - (lease_s if has_lapsed else 0.0)
        self._checked_at = now

    def renew(self, now: float) -> None:
        self._renewed_at = self._checked_at = now

    def check(self, now: float) -> LeaseState:
        """The state now. Must be called every `check_interval_s`.

        After a much longer interval the machine or the daemon was suspended: no client could renew
        the lease, so the time does not count, and the current period starts again.
        """
        late_s = now - self._checked_at - self.check_interval_s
        had_lapsed = self._checked_at - self._renewed_at >= self._lease_s
        self._checked_at = now
        if late_s > max(_MIN_JUMP_S, self.check_interval_s):
            self._renewed_at = now - (self._lease_s if had_lapsed else 0.0)
        idle_s = now - self._renewed_at
        if idle_s >= 2 * self._lease_s:
            return LeaseState.OVER
        return LeaseState.LAPSED if idle_s >= self._lease_s else LeaseState.HELD


class RunLease:
    """The lease of one run. `record` is its state when the controller starts or reattaches.

    `pause`, `resume` and `stop` are those of its controller, and take the reason.
    """

    def __init__(
        self,
        record: RunRecord,
        lease_s: float | None,
        *,
        pause: Callable[[str], Awaitable[RunRecord]],
        resume: Callable[[str], Awaitable[RunRecord]],
        stop: Callable[[str], Awaitable[RunRecord]],
    ) -> None:
        self._run_id = record.run_id
        self._lease_s = lease_s
        self._pause = pause
        self._resume = resume
        self._stop = stop
        self._timer: LeaseTimer | None = None
        self._is_paused_by_lapse = (
            lease_s is not None
            and record.state is RunState.PAUSED
            and record.reason.startswith(_LAPSED)
        )
        self._lock = asyncio.Lock()

    def renew(self, *, is_resumed: bool = False) -> None:
        """Renew the lease on a client's call; `is_resumed` if the client resumes the run."""
        if self._timer is not None:
            self._timer.renew(_now())
        if is_resumed:
            self._is_paused_by_lapse = False

    async def renew_and_resume(self) -> None:
        """Renew the lease, and resume a run that was paused because it had lapsed."""
        self.renew()
        if self._is_paused_by_lapse:
            await self._resume_lapsed()

    async def enforce(self) -> None:
        """Enforce the lease while the run has processes."""
        if self._lease_s is None:
            return
        self._timer = LeaseTimer(self._lease_s, _now(), has_lapsed=self._is_paused_by_lapse)
        while True:
            await asyncio.sleep(self._timer.check_interval_s)
            state = self._timer.check(_now())
            try:
                if state is LeaseState.OVER:
                    await self._stop_lapsed()
                    return
                if state is LeaseState.LAPSED and not self._is_paused_by_lapse:
                    await self._lapse()
            except UnknownRunError:
                return
            except StateConflictError as conflict:
                if conflict.current is RunState.STOPPING or conflict.current.is_final:
                    return  # otherwise paused already, or not running yet
            except UserError as error:
                _log.warning("T430 the lease of %s cannot be enforced: %s", self._run_id, error)
                await asyncio.sleep(_RETRY_S)

    async def _lapse(self) -> None:
        async with self._lock:
            await self._pause(f"{_LAPSED} for {self._lease_s:g} s.")
            self._is_paused_by_lapse = True
            _log.info("T431 run %s is paused: no client renews its lease", self._run_id)
        if self._timer is not None and self._timer.check(_now()) is LeaseState.HELD:
            await self._resume_lapsed()  # a client renewed it while it was being paused

    async def _resume_lapsed(self) -> None:
        async with self._lock:
            if not self._is_paused_by_lapse:
                return
            with suppress(
                StateConflictError, UnknownRunError
            ):  # resumed by another call, or finished
                await self._resume("A client renewed its lease.")
            self._is_paused_by_lapse = False

    async def _stop_lapsed(self) -> None:
        lease_s = self._lease_s or 0.0
        await self._stop(f"{_LAPSED} for {2 * lease_s:g} s.")
        _log.info("T432 run %s is stopped: no client renewed its lease", self._run_id)


def _now() -> float:
    """A clock that is not affected by changes of the wall clock, and counts while suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
