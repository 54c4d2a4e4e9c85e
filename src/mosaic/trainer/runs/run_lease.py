"""RunLease: a run that somebody plays does not go on when nobody is there any more.

A run whose configuration has `lease_s` is paused when no client has held it for so long, and ended
when none comes back for as long again. A client that comes back in between finds it going on: what
was paused for want of a client is resumed by the first one that holds it. A person's own pause is
left alone by holding, but protects nobody who is gone.

Used by `run_life.RunLife`, on the event loop.
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

_LOOKS_PER_LEASE = 4
_LONGEST_LOOK_S = 10.0
_LEAST_JUMP_S = 1.0
"""A machine that is busy is late too; that is no jump."""
_RETRY_S = 2.0

_LAPSED = "No client has held it"
"""How the reason of such a pause begins; a later daemon knows it again by that."""


class Standing(Enum):
    """Of a lease, at a moment."""

    HELD = "held"
    LAPSED = "lapsed"
    OVER = "over"


class LeaseTime:
    """How long nobody has held a lease. Time is given, never asked for."""

    def __init__(self, lease_s: float, now: float, *, has_lapsed: bool = False) -> None:
        self.look_every_s = min(lease_s / _LOOKS_PER_LEASE, _LONGEST_LOOK_S)
        self._lease_s = lease_s
        self._held_at = now - (lease_s if has_lapsed else 0.0)
        self._looked_at = now

    def hold(self, now: float) -> None:
        self._held_at = self._looked_at = now

    def look(self, now: float) -> Standing:
        """To be called every `look_every_s`.

        When the last look is much longer ago, the machine was suspended or we were stopped: nobody
        could have held anything, so that time does not count, and what began before begins anew.
        """
        late_s = now - self._looked_at - self.look_every_s
        had_lapsed = self._looked_at - self._held_at >= self._lease_s
        self._looked_at = now
        if late_s > max(_LEAST_JUMP_S, self.look_every_s):
            self._held_at = now - (self._lease_s if had_lapsed else 0.0)
        idle_s = now - self._held_at
        if idle_s >= 2 * self._lease_s:
            return Standing.OVER
        return Standing.LAPSED if idle_s >= self._lease_s else Standing.HELD


class RunLease:
    """Of one run, as `found` when its life begins or is taken up.

    `pause`, `resume` and `stop` are those of its life, and take the reason.
    """

    def __init__(
        self,
        found: RunRecord,
        lease_s: float | None,
        *,
        pause: Callable[[str], Awaitable[RunRecord]],
        resume: Callable[[str], Awaitable[RunRecord]],
        stop: Callable[[str], Awaitable[RunRecord]],
    ) -> None:
        self._run_id = found.run_id
        self._lease_s = lease_s
        self._pause = pause
        self._resume = resume
        self._stop = stop
        self._time: LeaseTime | None = None
        self._is_paused_by_lapse = (
            lease_s is not None
            and found.state is RunState.PAUSED
            and found.reason.startswith(_LAPSED)
        )
        self._one_at_a_time = asyncio.Lock()

    def renew(self, *, is_resumed: bool = False) -> None:
        """Somebody is there, and lets the run go on with `is_resumed`."""
        if self._time is not None:
            self._time.hold(_now())
        if is_resumed:
            self._is_paused_by_lapse = False

    async def hold(self) -> None:
        """Somebody is there, and a run that stands still because nobody was goes on."""
        self.renew()
        if self._is_paused_by_lapse:
            await self._go_on()

    async def keep(self) -> None:
        """From when the run has processes until it is to stop."""
        if self._lease_s is None:
            return
        self._time = LeaseTime(self._lease_s, _now(), has_lapsed=self._is_paused_by_lapse)
        while True:
            await asyncio.sleep(self._time.look_every_s)
            standing = self._time.look(_now())
            try:
                if standing is Standing.OVER:
                    await self._end()
                    return
                if standing is Standing.LAPSED and not self._is_paused_by_lapse:
                    await self._lapse()
            except UnknownRunError:
                return
            except StateConflictError as conflict:
                if conflict.current is RunState.STOPPING or conflict.current.is_final:
                    return  # paused already, or not yet running: there is nothing to pause
            except UserError as error:
                _log.warning("T430 the lease of %s cannot be kept: %s", self._run_id, error)
                await asyncio.sleep(_RETRY_S)

    async def _lapse(self) -> None:
        async with self._one_at_a_time:
            await self._pause(f"{_LAPSED} for {self._lease_s:g} s.")
            self._is_paused_by_lapse = True
            _log.info("T431 run %s is paused: no client holds it", self._run_id)
        if self._time is not None and self._time.look(_now()) is Standing.HELD:
            await self._go_on()  # one came while it was being paused

    async def _go_on(self) -> None:
        async with self._one_at_a_time:
            if not self._is_paused_by_lapse:
                return
            with suppress(StateConflictError, UnknownRunError):  # resumed by another, or over
                await self._resume("A client holds it again.")
            self._is_paused_by_lapse = False

    async def _end(self) -> None:
        lease_s = self._lease_s or 0.0
        await self._stop(f"{_LAPSED} for {2 * lease_s:g} s.")
        _log.info("T432 run %s is ended: no client came back to it", self._run_id)


def _now() -> float:
    """By a clock that no jump of the wall clock touches, and that counts while suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
