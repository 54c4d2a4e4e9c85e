"""An agent with a mind of AgentSpeak: what the learners and the coach of a team have in common.

Made by `teams.roles`, started and ended by `running`. Everything here happens in the thread of the
event loop, except the jobs given to `carry_out`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import agentspeak
from agentspeak.runtime import Intention, Waiter
from spade_bdi.bdi import BDIAgent
from spade_bdi.bdi_behaviour import BDIBehaviour

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent.deliberation import Deliberation
from spade_bdi_rl_worker.agent.plan_files import load_plans
from spade_bdi_rl_worker.agent.plan_problems import failed_plan
from spade_bdi_rl_worker.agent.terms import percept
from spade_bdi_rl_worker.telemetry.outlet import BdiChange

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from agentspeak import Actions

    from spade_bdi_rl_worker.agent.gate import Gate
    from spade_bdi_rl_worker.agent.observed_agent import ObservedAgent
    from spade_bdi_rl_worker.agent.plan_problems import PlanProblems
    from spade_bdi_rl_worker.messaging.link import Link
    from spade_bdi_rl_worker.telemetry.outlet import Outlet

STRANGER = "W294"
"""A message of somebody outside the team was not taken."""
PLAN_REMARK = "W295"
"""Something in a file of plans has no effect."""

_TELL_SECONDS = 0.1


class _Finished(NamedTuple):
    """An action that is over, for the mind to take note of."""

    intention: Any
    place: str
    outcome: asyncio.Future[Any]
    then: Callable[[Any], None]


class TeamAgent(BDIAgent):
    """`ended` tells when and why it is over; a result is the reason, an exception the problem."""

    bdi: Deliberation
    bdi_agent: ObservedAgent

    def __init__(
        self,
        name: str,
        gate: Gate,
        link: Link,
        plans: Path,
        problems: PlanProblems,
        outlet: Outlet,
        teammates: Mapping[str, str],
    ) -> None:
        self.agent_name = name
        self.gate = gate
        self.link = link
        self.outlet = outlet
        self.teammates = teammates
        """Their names, and their addresses for messages."""
        self.is_idle = False
        """Whether there is nothing that it is at or waits for."""
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.confidence: float | None = None
        self._plans = plans
        self._problems = problems
        self._percepts: dict[str, tuple[Any, ...]] = {}
        self._finished: list[_Finished] = []
        self._jobs = ThreadPoolExecutor(1, thread_name_prefix=f"mosaic-{name}")
        self._told: dict[Any, str] = {}
        self._told_state: Any = None
        self._tell_at = 0.0
        self._refused: set[str] = set()
        super().__init__(link.address_of(name), link.password, str(plans))

    # What SPADE and SPADE-BDI call.

    def add_behaviour(self, behaviour: Any, template: Any = None) -> None:
        """Thinks in our own behaviour instead of the one that SPADE-BDI brings."""
        if type(behaviour) is BDIBehaviour:
            behaviour, template = Deliberation(), None
        super().add_behaviour(behaviour, template)

    def add_custom_actions(self, actions: Actions) -> None:
        @actions.add(".done", 1)  # type: ignore[untyped-decorator, unused-ignore]
        def done(_mind: Any, term: Any, intention: Any) -> Any:
            self.end(str(agentspeak.grounded(term.args[0], intention.scope)))
            yield

    def _load_asl(self) -> None:
        self.bdi_agent, remarks = load_plans(
            self._plans, self.bdi_env, self.bdi_actions, self._problems, self.agent_name
        )
        for remark in remarks:
            self.outlet.say("warning", PLAN_REMARK, f"{remark.place}: {remark.sentence}.")
        self.resume_bdi()

    def dispatch(self, msg: Any) -> Any:
        """Lets go what comes after the end: SPADE would write all of it into the run's log."""
        return [] if self.bdi.is_killed() else super().dispatch(msg)

    async def _async_start(self, auto_register: bool = True) -> None:  # noqa: ARG002 - as SPADE's
        """Begin to think. The link has connected it, and all of its team, before."""
        await self.setup()
        self._alive.set()
        for behaviour in list(self.behaviours):
            behaviour.start()

    async def _async_stop(self) -> None:
        for behaviour in list(self.behaviours):
            behaviour.kill()
        self.bdi.wake()
        await asyncio.get_running_loop().run_in_executor(None, self._jobs.shutdown)
        self.bdi_agent.intentions.clear()
        self.tell_change(at_once=True)
        await self.link.disconnect(self)
        self._alive.clear()
        if not self.ended.cancel() and not self.ended.cancelled():
            self.ended.exception()  # nobody may have asked: the first problem ends a run

    # What plans, actions and the run do with it.

    def believe(self, name: str, *values: Any) -> None:
        """Hold this belief about the world instead of the last one of that name."""
        before = self._percepts.get(name)
        if before == values:
            return
        if before is not None:
            self.forget(name)
        self._percepts[name] = values
        self._feel(agentspeak.Trigger.addition, percept(name, *values))

    def forget(self, name: str) -> None:
        values = self._percepts.pop(name, None)
        if values is not None:
            self._feel(agentspeak.Trigger.removal, percept(name, *values))

    def _feel(self, trigger: agentspeak.Trigger, term: agentspeak.Literal) -> None:
        self.bdi_agent.call(trigger, agentspeak.GoalType.belief, term, Intention())

    def pursue(self, goal: str, *values: Any) -> None:
        """Take up a goal, when the agent next thinks."""
        term = agentspeak.Literal(goal, values)
        addition, achievement = agentspeak.Trigger.addition, agentspeak.GoalType.achievement
        self.bdi_intention_buffer.append((addition, achievement, term, Intention()))
        self.bdi.wake()

    def carry_out(
        self, intention: Any, job: Callable[[], Any], then: Callable[[Any], None] = lambda _: None
    ) -> None:
        """Do `job` in the agent's own thread, one after the other; the intention waits for it.

        The event loop stays free: messages, timers and connections live on while a learner learns.
        `then` is called with what it returned, before the plan goes on.
        """
        instruction = getattr(intention, "instr", None)
        place = getattr(instruction, "loc", None)
        where = f"{place.filename}, line {place.lineno}" if place else self._plans.name
        if intention is not None:
            intention.waiter = Waiter()
        outcome = asyncio.get_running_loop().run_in_executor(self._jobs, job)
        outcome.add_done_callback(
            lambda over: self._note_finished(_Finished(intention, where, over, then))
        )

    def _note_finished(self, finished: _Finished) -> None:
        self._finished.append(finished)
        self.bdi.wake()

    def settle_actions(self) -> None:
        """Take note of the actions that are over. Called when the agent thinks."""
        finished, self._finished = self._finished, []
        for intention, place, outcome, then in finished:
            if outcome.cancelled():
                continue
            error = outcome.exception()
            if isinstance(error, WorkerError):
                raise error
            if error is not None:
                raise WorkerError(
                    f"{place}: an action failed: {type(error).__name__}: {error}",
                    remedy="Look at the traceback in the run's log.",
                ) from error
            then(outcome.result())
            if intention is not None:
                intention.waiter = None

    def take_values(self, sender: str, body: str) -> None:
        """A teammate has shared what it knows. For agents that learn."""

    def refuse(self, sender: str) -> None:
        """Somebody outside the team has written; said once of each."""
        if sender not in self._refused:
            self._refused.add(sender)
            self.outlet.say(
                "warning",
                STRANGER,
                f"{self.agent_name} takes no messages from {sender}, who is not in its team.",
            )

    def tell_change(self, *, at_once: bool = False) -> float | None:
        """Tell what is different in the agent's mind since the last time, if anything is.

        Not more often than people can follow: otherwise returns in how many seconds to try again.
        """
        now = asyncio.get_running_loop().time()
        if now < self._tell_at and not at_once:
            return self._tell_at - now
        mind = self.bdi_agent
        held, goals, intentions = mind.beliefs_held(), mind.goals(), mind.intentions_now()
        state = (goals, intentions, self.confidence)
        added = tuple(text for belief, text in held.items() if belief not in self._told)
        removed = tuple(text for belief, text in self._told.items() if belief not in held)
        if added or removed or mind.fired or state != self._told_state:
            plan = ", ".join(dict.fromkeys(mind.fired))
            self.outlet.bdi(
                BdiChange(self.agent_name, added, removed, goals, intentions, plan, self.confidence)
            )
            self._tell_at = now + _TELL_SECONDS
        self._told, self._told_state = held, state
        mind.fired.clear()
        return None

    def end(self, reason: str) -> None:
        """It is done."""
        if not self.ended.done():
            self.ended.set_result(reason)

    def fail(self, error: Exception) -> None:
        """It cannot go on."""
        if self.ended.done():
            return
        if not isinstance(error, WorkerError) or self._problems.found:
            error = failed_plan(error, self._plans, self._problems.take())
        self.ended.set_exception(error)
