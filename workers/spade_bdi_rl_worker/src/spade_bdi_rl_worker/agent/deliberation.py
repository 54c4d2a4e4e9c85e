"""The behaviour in which an agent thinks: it carries out plans, and sleeps when it can do nothing.

SPADE-BDI's own behaviour takes one instruction per turn of the event loop and turns for ever, also
with nothing to do. This one runs plans until they wait, tells what has changed, and waits for a
message, the end of an action or a deadline of a plan.
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
"""The performative of messages that plans send and react to."""
VALUES = "values"
"""That of messages in which learners share what they know."""

RESTLESS = "W296"
"""An agent carries out plans without end, and learns nothing by it."""

_RESTLESS_SECONDS = 5.0
_INSTRUCTIONS = 500
"""Carried out before messages and other agents get a turn."""


class Deliberation(BDIBehaviour):
    """One per agent. Whatever goes wrong in it ends the agent, with a reason."""

    agent: TeamAgent

    def __init__(self) -> None:
        super().__init__()
        self.thoughts = 0
        """How often it has begun to think: whether it did anything since one looked."""
        self._woken = asyncio.Event()
        self._restless_since: float | None = None

    def wake(self) -> None:
        """There may be something to do. From the event loop's thread."""
        self._woken.set()

    def match(self, message: Message) -> bool:
        return message.get_metadata("performative") in (PLANS, VALUES)

    async def enqueue(self, message: Message) -> None:
        """Takes messages of the team alone: on a server anybody may write to an agent."""
        if self.is_killed():
            return
        sender = str(message.sender).partition("/")[0]
        if sender not in self.agent.teammates.values():
            self.agent.refuse(sender)
            return
        message.sender = sender
        if message.get_metadata("performative") == VALUES:
            self.agent.take_values(sender, message.body)
        else:
            self.queue.put_nowait(message)
        self.wake()

    async def send(self, msg: Message) -> None:
        if msg.empty_sender():
            msg.sender = str(self.agent.jid)
        try:
            await self.agent.link.send(self, msg)
        except Exception as error:  # noqa: BLE001 - a task's edge: nobody waits for its outcome
            self.agent.fail(error)

    async def run(self) -> None:
        try:
            await self._think()
        except Exception as error:  # noqa: BLE001 - the behaviour's edge: SPADE would only log it
            self.agent.fail(error)
            self.kill()

    async def _think(self) -> None:
        mind = self.agent.bdi_agent
        await self.agent.gate.wait_while_paused()
        self._woken.clear()
        self.thoughts += 1
        self.agent.settle_actions()
        await super().run()  # a message, events that were buffered, and one instruction
        for _ in range(_INSTRUCTIONS):
            if self.agent.ended.done():
                break
            if not mind.step():
                break
        else:
            self._remark_on_restlessness(asyncio.get_running_loop().time())
            self.agent.tell_change()
            return
        self._restless_since = None
        if self.queue.qsize() and not self.agent.ended.done():
            return
        self.agent.is_idle = not mind.intentions
        while not self.is_killed():
            untold_s = self.agent.tell_change()
            if await self._rest(mind.shortest_deadline(), untold_s) or untold_s is None:
                break

    def _remark_on_restlessness(self, now_s: float) -> None:
        """Once for every time that plans go on and on; a long calculation may be meant."""
        before, self._restless_since = self._restless_since, self._restless_since or now_s
        if before is not None and now_s - before >= _RESTLESS_SECONDS:
            self._restless_since = math.inf
            plans = ", ".join(dict.fromkeys(self.agent.bdi_agent.fired))
            self.agent.outlet.say(
                "warning",
                RESTLESS,
                f"{self.agent.agent_name} has carried out plans for {_RESTLESS_SECONDS:g} s without"
                f" an action that learns or waits: {plans or 'one plan'}."
                " If that is not meant, stop the run and see whether they ever end.",
            )

    async def _rest(self, deadline: float | None, at_most_s: float | None) -> bool:
        """Until woken, a plan's `.wait` is over, or so long; whether there is something to do."""
        left_s = None if deadline is None else max(0.0, deadline - time.time())
        limits = [limit for limit in (left_s, at_most_s) if limit is not None]
        try:
            await asyncio.wait_for(self._woken.wait(), min(limits, default=None))
        except asyncio.TimeoutError:
            return left_s is not None and left_s == min(limits)
        self.agent.is_idle = False
        return True
