"""The base class of learners and coaches: beliefs, goals, actions and reporting.

Created by `teams.team`, started and stopped by `runner`. Everything runs in the thread of the
event loop, except the jobs passed to `run_job`.
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
from spade_bdi_rl_worker.agent.plan_diagnostics import plan_failure_error
from spade_bdi_rl_worker.agent.plan_files import load_plans
from spade_bdi_rl_worker.agent.terms import make_percept
from spade_bdi_rl_worker.telemetry.sink import BdiUpdate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from agentspeak import Actions

    from spade_bdi_rl_worker.agent.observed_agent import ObservedAgent
    from spade_bdi_rl_worker.agent.plan_diagnostics import DiagnosticCollector
    from spade_bdi_rl_worker.agent.runner import RunGate
    from spade_bdi_rl_worker.messaging.transport import MessageTransport
    from spade_bdi_rl_worker.telemetry.sink import TelemetrySink

UNKNOWN_SENDER = "W294"
"""A message from outside the team was rejected."""
PLAN_WARNING = "W295"
"""A statement in a plan file has no effect."""

_MIN_REPORT_INTERVAL_S = 0.1


class _FinishedAction(NamedTuple):
    """A finished action whose result the next deliberation cycle applies."""

    intention: Any
    location: str
    result: asyncio.Future[Any]
    on_done: Callable[[Any], None]


class TeamAgent(BDIAgent):
    """`finished` resolves when the agent is done: to the reason, or to an exception."""

    bdi: Deliberation
    bdi_agent: ObservedAgent

    def __init__(
        self,
        name: str,
        gate: RunGate,
        transport: MessageTransport,
        plans: Path,
        diagnostics: DiagnosticCollector,
        sink: TelemetrySink,
        teammates: Mapping[str, str],
    ) -> None:
        """`teammates` maps names to addresses for messages."""
        self.agent_name = name
        self.gate = gate
        self.transport = transport
        self.sink = sink
        self.teammates = teammates
        self.is_idle = False
        """Whether the agent has no intentions."""
        self.finished: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.confidence: float | None = None
        self._plans = plans
        self._diagnostics = diagnostics
        self._percepts: dict[str, tuple[Any, ...]] = {}
        self._finished_actions: list[_FinishedAction] = []
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=f"mosaic-{name}")
        self._reported_beliefs: dict[Any, str] = {}
        self._reported_state: Any = None
        self._next_report_at = 0.0
        self._rejected_senders: set[str] = set()
        super().__init__(transport.address_of(name), transport.password, str(plans))

    # Overrides of SPADE and SPADE-BDI.

    def add_behaviour(self, behaviour: Any, template: Any = None) -> None:
        """Replace SPADE-BDI's behaviour with `Deliberation`."""
        if type(behaviour) is BDIBehaviour:
            behaviour, template = Deliberation(), None
        super().add_behaviour(behaviour, template)

    def add_custom_actions(self, actions: Actions) -> None:
        @actions.add(".done", 1)  # type: ignore[untyped-decorator, unused-ignore]
        def done(_agent: Any, term: Any, intention: Any) -> Any:
            self.finish(str(agentspeak.grounded(term.args[0], intention.scope)))
            yield

    def _load_asl(self) -> None:
        self.bdi_agent, warnings = load_plans(
            self._plans, self.bdi_env, self.bdi_actions, self._diagnostics, self.agent_name
        )
        for warning in warnings:
            self.sink.log("warning", PLAN_WARNING, f"{warning.location}: {warning.message}.")
        self.resume_bdi()

    def dispatch(self, msg: Any) -> Any:
        """Ignore messages after the agent has ended, each of which SPADE would log."""
        return [] if self.bdi.is_killed() else super().dispatch(msg)

    async def _async_start(self, auto_register: bool = True) -> None:  # noqa: ARG002 - as SPADE's
        """Start deliberating. The transport has already connected all members of the team."""
        await self.setup()
        self._alive.set()
        for behaviour in list(self.behaviours):
            behaviour.start()

    async def _async_stop(self) -> None:
        for behaviour in list(self.behaviours):
            behaviour.kill()
        self.bdi.wake()
        await asyncio.get_running_loop().run_in_executor(None, self._executor.shutdown)
        self.bdi_agent.intentions.clear()
        self.report_changes(force=True)
        await self.transport.disconnect(self)
        self._alive.clear()
        if not self.finished.cancel() and not self.finished.cancelled():
            self.finished.exception()  # mark as retrieved: only the first failure is raised

    # Beliefs, goals and actions.

    def set_belief(self, name: str, *values: Any) -> None:
        """Add a percept, and remove the previous one of that name."""
        before = self._percepts.get(name)
        if before == values:
            return
        if before is not None:
            self.remove_belief(name)
        self._percepts[name] = values
        self._update_belief_base(agentspeak.Trigger.addition, make_percept(name, *values))

    def remove_belief(self, name: str) -> None:
        values = self._percepts.pop(name, None)
        if values is not None:
            self._update_belief_base(agentspeak.Trigger.removal, make_percept(name, *values))

    def _update_belief_base(self, trigger: agentspeak.Trigger, term: agentspeak.Literal) -> None:
        self.bdi_agent.call(trigger, agentspeak.GoalType.belief, term, Intention())

    def add_goal(self, goal: str, *values: Any) -> None:
        """Add an achievement goal, for the next deliberation cycle."""
        term = agentspeak.Literal(goal, values)
        addition, achievement = agentspeak.Trigger.addition, agentspeak.GoalType.achievement
        self.bdi_intention_buffer.append((addition, achievement, term, Intention()))
        self.bdi.wake()

    def run_job(
        self,
        intention: Any,
        job: Callable[[], Any],
        on_done: Callable[[Any], None] = lambda _: None,
    ) -> None:
        """Run `job` in the agent's own thread, one at a time; the intention waits for it.

        The event loop stays responsive to messages, timers and connections. `on_done` gets the
        result before the plan continues.
        """
        instruction = getattr(intention, "instr", None)
        loc = getattr(instruction, "loc", None)
        location = f"{loc.filename}, line {loc.lineno}" if loc else self._plans.name
        if intention is not None:
            intention.waiter = Waiter()
        result = asyncio.get_running_loop().run_in_executor(self._executor, job)
        result.add_done_callback(
            lambda future: self._on_job_done(_FinishedAction(intention, location, future, on_done))
        )

    def _on_job_done(self, action: _FinishedAction) -> None:
        self._finished_actions.append(action)
        self.bdi.wake()

    def complete_actions(self) -> None:
        """Apply the results of finished actions. Called at the start of a deliberation cycle."""
        finished, self._finished_actions = self._finished_actions, []
        for intention, location, result, on_done in finished:
            if result.cancelled():
                continue
            error = result.exception()
            if isinstance(error, WorkerError):
                raise error
            if error is not None:
                raise WorkerError(
                    f"{location}: an action failed: {type(error).__name__}: {error}",
                    remedy="See the traceback in the run's log.",
                ) from error
            on_done(result.result())
            if intention is not None:
                intention.waiter = None

    def receive_values(self, sender: str, body: str) -> None:
        """Handle action values shared by a teammate. Overridden by agents that learn."""

    def reject_message(self, sender: str) -> None:
        """Log a message from outside the team, once per sender."""
        if sender not in self._rejected_senders:
            self._rejected_senders.add(sender)
            self.sink.log(
                "warning",
                UNKNOWN_SENDER,
                f"{self.agent_name} rejected messages from {sender}, which is not in its team.",
            )

    def report_changes(self, *, force: bool = False) -> float | None:
        """Report changes of beliefs, goals and intentions since the last report, if any.

        Reports are rate-limited: a report that comes too early is skipped, and the seconds to wait
        are returned. `force` ignores the limit.
        """
        now = asyncio.get_running_loop().time()
        if now < self._next_report_at and not force:
            return self._next_report_at - now
        agent = self.bdi_agent
        beliefs, reported = agent.format_beliefs(), self._reported_beliefs
        goals, intentions = agent.format_goals(), agent.snapshot_intentions()
        state = (goals, intentions, self.confidence)
        added = tuple(text for belief, text in beliefs.items() if belief not in reported)
        removed = tuple(text for belief, text in reported.items() if belief not in beliefs)
        if added or removed or agent.fired_plans or state != self._reported_state:
            plan = ", ".join(dict.fromkeys(agent.fired_plans))
            self.sink.report_bdi(
                BdiUpdate(self.agent_name, added, removed, goals, intentions, plan, self.confidence)
            )
            self._next_report_at = now + _MIN_REPORT_INTERVAL_S
        self._reported_beliefs, self._reported_state = beliefs, state
        agent.fired_plans.clear()
        return None

    def finish(self, reason: str) -> None:
        """Mark the agent as done."""
        if not self.finished.done():
            self.finished.set_result(reason)

    def fail(self, error: Exception) -> None:
        """Mark the agent as failed."""
        if self.finished.done():
            return
        if not isinstance(error, WorkerError) or self._diagnostics.pending:
            error = plan_failure_error(error, self._plans, self._diagnostics.drain())
        self.finished.set_exception(error)
