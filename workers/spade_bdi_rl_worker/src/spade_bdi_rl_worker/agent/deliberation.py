"""The deliberation cycle of an agent: runs its intentions, and sleeps when none can run.

SPADE-BDI's own behaviour runs one instruction per event-loop iteration and never sleeps. This one
runs intentions until all of them wait, reports changes, and then waits for a message, the end
of an action or the deadline of a `.wait`.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING

from spade_bdi.bdi_behaviour import BDIBehaviour

if TYPE_CHECKING:
    from spade.message import Message

    from spade_bdi_rl_worker.agent.team_agent import TeamAgent

PLANS = "BDI"
"""Performative of messages that plans send and react to."""
VALUES = "values"
"""Performative of messages in which learners share action values."""

BUSY_PLANS = "W296"
"""An agent's plans run without pause and without learning."""

_BUSY_WARNING_S = 5.0
_INSTRUCTIONS_PER_CYCLE = 500
"""Number of instructions after which messages and other agents are processed."""


class Deliberation(BDIBehaviour):
    """One per agent. An exception in it makes the agent fail with that reason."""

    agent: TeamAgent

    def __init__(self) -> None:
        super().__init__()
        self.cycles = 0
        """Number of deliberation cycles so far; an unchanged number means inactivity."""
        self._woken = asyncio.Event()
        self._busy_since: float | None = None

    def wake(self) -> None:
        """Start a new cycle. Call it from the event loop's thread."""
        self._woken.set()

    def match(self, message: Message) -> bool:
        return message.get_metadata("performative") in (PLANS, VALUES)

    async def enqueue(self, message: Message) -> None:
        """Accept messages of teammates only: any client of a server can send to an agent."""
        if self.is_killed():
            return
        sender = str(message.sender).partition("/")[0]
        if sender not in self.agent.teammates.values():
            self.agent.reject_message(sender)
            return
        message.sender = sender
        if message.get_metadata("performative") == VALUES:
            self.agent.receive_values(sender, message.body)
        else:
            self.queue.put_nowait(message)
        self.wake()

    async def send(self, msg: Message) -> None:
        if msg.empty_sender():
            msg.sender = str(self.agent.jid)
        try:
            await self.agent.transport.send(self, msg)
        except Exception as error:  # noqa: BLE001 - edge of a task whose result is not awaited
            self.agent.fail(error)

    async def run(self) -> None:
        try:
            await self._run_cycle()
        except Exception as error:  # noqa: BLE001 - edge of the behaviour: SPADE would only log it
            self.agent.fail(error)
            self.kill()

    async def _run_cycle(self) -> None:
        bdi_agent = self.agent.bdi_agent
        await self.agent.gate.wait_while_paused()
        self._woken.clear()
        self.cycles += 1
        self.agent.complete_actions()
        await super().run()  # one message, buffered events, and one instruction
        for _ in range(_INSTRUCTIONS_PER_CYCLE):
            if self.agent.finished.done():
                break
            if not bdi_agent.step():
                break
        else:
            self._warn_if_busy(asyncio.get_running_loop().time())
            self.agent.report_changes()
            return
        self._busy_since = None
        if self.queue.qsize() and not self.agent.finished.done():
            return
        self.agent.is_idle = not bdi_agent.intentions
        while not self.is_killed():
            retry_s = self.agent.report_changes()
            if await self._sleep(bdi_agent.shortest_deadline(), retry_s) or retry_s is None:
                break

    def _warn_if_busy(self, now_s: float) -> None:
        """Warn once per busy period; a long computation may be intended."""
        before, self._busy_since = self._busy_since, self._busy_since or now_s
        if before is not None and now_s - before >= _BUSY_WARNING_S:
            self._busy_since = math.inf
            plans = ", ".join(dict.fromkeys(self.agent.bdi_agent.fired_plans))
            self.agent.sink.log(
                "warning",
                BUSY_PLANS,
                f"{self.agent.agent_name} has been running plans for {_BUSY_WARNING_S:g} s without"
                f" an action that learns or waits: {plans or 'one plan'}."
                " If this is not intended, stop the run and check that the plans end.",
            )

    async def _sleep(self, deadline: float | None, timeout_s: float | None) -> bool:
        """Sleep until woken, the deadline or the timeout; return whether plans can run."""
        left_s = None if deadline is None else max(0.0, deadline - time.time())
        limits = [limit for limit in (left_s, timeout_s) if limit is not None]
        try:
            await asyncio.wait_for(self._woken.wait(), min(limits, default=None))
        except asyncio.TimeoutError:
            return left_s is not None and left_s == min(limits)
        self.agent.is_idle = False
        return True
