"""The life of a run's agents: from their start to a reason why they are over.

`run` is what the worker's entry calls. It owns the event loop and blocks; the learners work in
threads of their own meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent.plan_files import plan_file
from spade_bdi_rl_worker.messaging.address import parse_address
from spade_bdi_rl_worker.messaging.light_import import import_spade
from spade_bdi_rl_worker.messaging.readiness import require_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mosaic_worker.run import Run
    from spade_bdi_rl_worker.agent.gate import Gate
    from spade_bdi_rl_worker.learning.learner import Learner
    from spade_bdi_rl_worker.messaging.link import Link
    from spade_bdi_rl_worker.settings import AgentSettings
    from spade_bdi_rl_worker.teams.roles import Team
    from spade_bdi_rl_worker.telemetry.outlet import Outlet

AGENTS_READY = "W292"
"""The agents can reach one another and begin."""
AGENT_DONE = "W293"
"""An agent is done, and says why."""

_LOOK_SECONDS = 0.05
_STALLED_SECONDS = 5.0
"""So long nobody may have anything to do in a team before it is taken for stuck."""


def check(settings: AgentSettings) -> None:
    """Whether the run could begin: its files of plans are there, and its server answers.

    Needs no package of the bundle, so that `--dry-run` can ask. Raises `WorkerError`.
    """
    plan_file(settings.asl, "learner")
    require_server(parse_address(settings.xmpp))


def run(learner: Learner, settings: AgentSettings, outlet: Outlet, control: Run) -> None:
    """Let the agents live until they are done, the run is stopped, or something fails.

    Raises `WorkerError` with a remedy. Leaves nothing behind: no thread, no socket, no file.
    """
    check(settings)
    import_spade()
    with _event_loop() as loop:
        loop.run_until_complete(_live(learner, settings, outlet, control))


@contextlib.contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    import uvloop  # noqa: PLC0415 - on the stock loop one STARTTLS in two hangs

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


async def _live(learner: Learner, settings: AgentSettings, outlet: Outlet, control: Run) -> None:
    from spade.container import Container  # noqa: PLC0415 - slow, and installed in the bundle only

    from spade_bdi_rl_worker.agent.gate import Gate  # noqa: PLC0415
    from spade_bdi_rl_worker.agent.plan_problems import PlanProblems  # noqa: PLC0415
    from spade_bdi_rl_worker.messaging.choosing import choose_link  # noqa: PLC0415
    from spade_bdi_rl_worker.teams.roles import Surroundings, assemble  # noqa: PLC0415

    Container().reset()  # it is one per process, and remembers the last event loop
    problems = PlanProblems()
    problems.install()
    gate = Gate(control)
    link = choose_link(parse_address(settings.xmpp), control.id)
    try:
        await link.open()
        team = assemble(learner, Surroundings(settings, gate, link, problems, outlet))
        try:
            await _work(team, link, outlet, gate)
        except WorkerError:
            await _dismiss(team, gate)
            if learner.progress.steps:
                learner.save("the run failed")
            raise
        finally:
            await _dismiss(team, gate)
    finally:
        await link.close()


async def _dismiss(team: Team, gate: Gate) -> None:
    """Let everybody finish the step under way. Does nothing the second time."""
    gate.close()
    members, team.members = team.members, []
    await asyncio.gather(*(member.stop() for member in members))
    while team.twins:
        team.twins.pop().close()


async def _work(team: Team, link: Link, outlet: Outlet, gate: Gate) -> None:
    watch = asyncio.ensure_future(_watch(team, link, gate))
    starting = asyncio.ensure_future(_start(team, link))
    try:
        await asyncio.wait([starting, watch], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            return  # told to stop while a server was slow to answer
        starting.result()
        names = ", ".join(member.agent_name for member in team.members)
        outlet.say("info", AGENTS_READY, f"Ready: {names}, with messages by {link}.")
        await _until_over(team, link, outlet, watch)
    finally:
        starting.cancel()
        watch.cancel()


async def _start(team: Team, link: Link) -> None:
    """Nobody begins before everybody can be reached."""
    await asyncio.gather(*(link.connect(member) for member in team.members))
    for member in team.members:
        await member.start()


async def _until_over(team: Team, link: Link, outlet: Outlet, watch: asyncio.Future[None]) -> None:
    """Until every decider is done. The first that fails, of any, fails the run."""
    open_ends = {member.ended: member for member in team.members}
    undecided = set(team.deciders)
    while undecided:
        awaited: list[asyncio.Future[Any]] = [*open_ends, link.lost, watch]
        over, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if link.lost in over:
            link.lost.result()
        for end in [end for end in open_ends if end in over]:
            member = open_ends.pop(end)
            undecided.discard(member)
            reason = end.result()
            outlet.say("info", AGENT_DONE, f"{member.agent_name} is done: {reason}")
        if watch in over:
            watch.result()
            return


async def _watch(team: Team, link: Link, gate: Gate) -> None:
    """Returns when the run is told to stop; raises when its agents can do nothing any more."""
    loop = asyncio.get_running_loop()
    busy_until, thoughts = loop.time(), 0
    while not gate.is_over:
        await asyncio.sleep(_LOOK_SECONDS)
        await gate.wait_while_paused()
        for member in team.members:
            if member.bdi.is_killed() and not member.ended.done():
                raise WorkerError(
                    f"The agent {member.agent_name} stopped thinking without a reason.",
                    remedy="Look at the run's log, and report it.",
                )
        at_work = [member for member in team.members if not member.ended.done()]
        before, thoughts = thoughts, sum(member.bdi.thoughts for member in team.members)
        if not at_work or not all(member.is_idle for member in at_work):
            busy_until = loop.time()
        elif len(team.members) == 1:
            at_work[0].end("its plans have nothing more to do")
        elif thoughts != before:
            busy_until = loop.time()
        elif loop.time() - busy_until > _STALLED_SECONDS:
            names = " and ".join(member.agent_name for member in at_work)
            raise WorkerError(
                f"{names} have nothing to do and wait for one another, with messages by {link}.",
                remedy="A plan has to send the next goal, or to end the run with `.done(…)`."
                " Where a server delivers the messages, see whether it still does.",
            )
