"""Runs the agents of a run: from connecting them to the reason why they finished.

`run_agents` owns the event loop and blocks; each learner works in its own thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent.plan_files import find_plan_file
from spade_bdi_rl_worker.messaging.address import parse_address
from spade_bdi_rl_worker.messaging.server_check import require_server
from spade_bdi_rl_worker.messaging.stub_imports import import_spade

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mosaic_worker.run import Run
    from spade_bdi_rl_worker.learning.learner import TableLearner
    from spade_bdi_rl_worker.messaging.transport import MessageTransport
    from spade_bdi_rl_worker.settings import AgentSettings
    from spade_bdi_rl_worker.teams.team import Team
    from spade_bdi_rl_worker.telemetry.sink import TelemetrySink

AGENTS_READY = "W292"
"""All agents are connected and start."""
AGENT_DONE = "W293"
"""An agent is done, with the reason."""

_POLL_INTERVAL_S = 0.05
_STALL_TIMEOUT_S = 5.0
"""A team that is idle for this long is considered stuck."""


class RunGate:
    """Pause and stop of a run, shared by all of its agents. Thread-safe."""

    def __init__(self, control: Run) -> None:
        self._control = control
        self._is_closed = False
        self._pause_lock = threading.Lock()

    def should_continue(self) -> bool:
        """Block while the run is paused; return False if work must stop."""
        control = self._control
        if control.is_pause_requested and not self._is_closed:
            # The first caller reports the pause; the others wait for the lock.
            with self._pause_lock:
                control.wait_while_paused()
        return not self.is_stopping

    async def wait_while_paused(self) -> None:
        """Wait like `should_continue`, without blocking the event loop."""
        if self._control.is_pause_requested and not self.is_stopping:
            await asyncio.get_running_loop().run_in_executor(None, self.should_continue)

    @property
    def is_stopping(self) -> bool:
        """Whether work must stop. Never blocks."""
        return self._is_closed or self._control.should_stop

    def close(self) -> None:
        """Stop all work and end every wait, because the run is ending."""
        self._is_closed = True
        if self._control.is_pause_requested and not self._control.should_stop:
            self._control.request_stop("the run is ending")


def check_settings(settings: AgentSettings) -> None:
    """Raise `WorkerError` if the plan file is missing or the XMPP server does not answer.

    Needs no package of the bundle, so that `--dry-run` can use it.
    """
    find_plan_file(settings.asl, "learner")
    require_server(parse_address(settings.xmpp))


def run_agents(
    learner: TableLearner, settings: AgentSettings, sink: TelemetrySink, control: Run
) -> None:
    """Run the agents until they are done, the run is stopped, or something fails.

    Raises `WorkerError` with a remedy. Closes all threads, sockets and files that it opened.
    """
    check_settings(settings)
    import_spade()
    with _event_loop() as loop:
        loop.run_until_complete(_run_team(learner, settings, sink, control))


@contextlib.contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    import uvloop  # noqa: PLC0415 - on asyncio's own loop about half of all STARTTLS hang

    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield loop
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()


async def _run_team(
    learner: TableLearner, settings: AgentSettings, sink: TelemetrySink, control: Run
) -> None:
    from spade.container import Container  # noqa: PLC0415 - slow, and installed in the bundle only

    from spade_bdi_rl_worker.agent.plan_diagnostics import DiagnosticCollector  # noqa: PLC0415
    from spade_bdi_rl_worker.messaging.transport import make_transport  # noqa: PLC0415
    from spade_bdi_rl_worker.teams.team import AgentContext, build_team  # noqa: PLC0415

    Container().reset()  # a singleton that keeps the previous event loop
    diagnostics = DiagnosticCollector()
    diagnostics.install()
    gate = RunGate(control)
    transport = make_transport(parse_address(settings.xmpp), control.id)
    try:
        await transport.open()
        team = build_team(learner, AgentContext(settings, gate, transport, diagnostics, sink))
        try:
            await _start_and_wait(team, transport, sink, gate)
        except WorkerError:
            await _stop_team(team, gate)
            if learner.progress.steps:
                learner.save("the run failed")
            raise
        finally:
            await _stop_team(team, gate)
    finally:
        await transport.close()


async def _stop_team(team: Team, gate: RunGate) -> None:
    """Stop all members after their current step. A second call does nothing."""
    gate.close()
    members, team.members = team.members, []
    await asyncio.gather(*(member.stop() for member in members))
    while team.partners:
        team.partners.pop().close()


async def _start_and_wait(
    team: Team, transport: MessageTransport, sink: TelemetrySink, gate: RunGate
) -> None:
    watch = asyncio.ensure_future(_watch(team, transport, gate))
    starting = asyncio.ensure_future(_start_team(team, transport))
    try:
        await asyncio.wait([starting, watch], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            return  # stopped while a server was slow to answer
        starting.result()
        names = ", ".join(member.agent_name for member in team.members)
        sink.log("info", AGENTS_READY, f"Ready: {names}, with messages through {transport}.")
        await _wait_until_done(team, transport, sink, watch)
    finally:
        starting.cancel()
        watch.cancel()


async def _start_team(team: Team, transport: MessageTransport) -> None:
    """Connect all members before the first one starts, so that no message is lost."""
    await asyncio.gather(*(transport.connect(member) for member in team.members))
    for member in team.members:
        await member.start()


async def _wait_until_done(
    team: Team, transport: MessageTransport, sink: TelemetrySink, watch: asyncio.Future[None]
) -> None:
    """Return when every decider is done. The first member that fails makes the run fail."""
    unfinished = {member.finished: member for member in team.members}
    deciders = set(team.deciders)
    while deciders:
        futures: list[asyncio.Future[Any]] = [*unfinished, transport.lost, watch]
        done, _ = await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        if transport.lost in done:
            transport.lost.result()
        for finished in [future for future in unfinished if future in done]:
            member = unfinished.pop(finished)
            deciders.discard(member)
            sink.log("info", AGENT_DONE, f"{member.agent_name} is done: {finished.result()}")
        if watch in done:
            watch.result()
            return


async def _watch(team: Team, transport: MessageTransport, gate: RunGate) -> None:
    """Return when the run must stop; raise when its agents are stuck."""
    loop = asyncio.get_running_loop()
    busy_until, cycles = loop.time(), 0
    while not gate.is_stopping:
        await asyncio.sleep(_POLL_INTERVAL_S)
        await gate.wait_while_paused()
        for member in team.members:
            if member.bdi.is_killed() and not member.finished.done():
                raise WorkerError(
                    f"The agent {member.agent_name} stopped deliberating without a reason.",
                    remedy="See the run's log, and report this.",
                )
        active = [member for member in team.members if not member.finished.done()]
        before, cycles = cycles, sum(member.bdi.cycles for member in team.members)
        if not active or not all(member.is_idle for member in active):
            busy_until = loop.time()
        elif len(team.members) == 1:
            active[0].finish("its plans have no more intentions")
        elif cycles != before:
            busy_until = loop.time()
        elif loop.time() - busy_until > _STALL_TIMEOUT_S:
            names = " and ".join(member.agent_name for member in active)
            raise WorkerError(
                f"{names} are idle and wait for each other, with messages through {transport}.",
                remedy="A plan must send the next goal, or finish the run with `.done(…)`."
                " If an XMPP server delivers the messages, check that it is still running.",
            )
