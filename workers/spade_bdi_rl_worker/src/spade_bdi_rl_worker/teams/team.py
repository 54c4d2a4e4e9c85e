"""Builds the team of a run: its members, their plans and goals, and which of them end the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent.learning_agent import LearningAgent
from spade_bdi_rl_worker.agent.plan_files import find_plan_file
from spade_bdi_rl_worker.agent.team_agent import TeamAgent
from spade_bdi_rl_worker.settings import ALONE, COACH, PAIR, learner_name, partner_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from spade_bdi_rl_worker.agent.plan_diagnostics import DiagnosticCollector
    from spade_bdi_rl_worker.agent.runner import RunGate
    from spade_bdi_rl_worker.learning.learner import LearningProgress, TableLearner
    from spade_bdi_rl_worker.messaging.transport import MessageTransport
    from spade_bdi_rl_worker.settings import AgentSettings
    from spade_bdi_rl_worker.telemetry.sink import TelemetrySink

_LESSONS_PER_RUN = 10
_SHARES_PER_RUN = 50


@dataclass
class Team:
    """The agents of a run. The run ends when all `deciders` are done."""

    members: list[TeamAgent]
    deciders: list[TeamAgent]
    partners: list[TableLearner]
    """Learners created for the team, to be closed with it."""


@dataclass(frozen=True)
class AgentContext:
    """Objects that all agents of a run share."""

    settings: AgentSettings
    gate: RunGate
    transport: MessageTransport
    diagnostics: DiagnosticCollector
    sink: TelemetrySink


def build_team(learner: TableLearner, context: AgentContext) -> Team:
    """Build the team that the settings name, with its initial goals. May raise `WorkerError`."""
    builders: dict[str, Callable[[TableLearner, AgentContext], Team]] = {
        ALONE: _build_alone,
        COACH: _build_coached,
        PAIR: _build_pair,
    }
    build = builders.get(context.settings.team)
    if build is None:
        raise WorkerError(
            f"`team`: there is no team {context.settings.team!r}.",
            remedy=f"Choose one of {', '.join(builders)}.",
        )
    return build(learner, context)


def _build_alone(learner: TableLearner, context: AgentContext) -> Team:
    agent = _make_learning_agent(learner_name(context.settings), learner, context, "learner", {})
    _add_initial_goal(agent, learner, context.settings)
    return Team([agent], [agent], [])


def _build_coached(learner: TableLearner, context: AgentContext) -> Team:
    settings = context.settings
    name = learner_name(settings)
    addresses = {member: context.transport.address_of(member) for member in (name, COACH)}
    agent = _make_learning_agent(name, learner, context, "learner", addresses)
    agent.set_belief(COACH, addresses[COACH])
    coach = TeamAgent(
        COACH,
        context.gate,
        context.transport,
        find_plan_file("", COACH),
        context.diagnostics,
        context.sink,
        {name: addresses[name]},
    )
    coach.set_belief("learner", addresses[name])
    coach.set_belief("target", float(settings.goal_success_rate))
    coach.set_belief("evaluation", settings.evaluation_episodes)
    coach.set_belief("lesson", max(1, _max_episodes(learner.progress) // _LESSONS_PER_RUN))
    _add_initial_goal(coach, learner, settings)
    return Team([agent, coach], [coach], [])


def _build_pair(learner: TableLearner, context: AgentContext) -> Team:
    first, second = learner_name(context.settings), partner_name(context.settings)
    partner = learner.make_partner(second)
    addresses = {name: context.transport.address_of(name) for name in (first, second)}
    members: list[TeamAgent] = []
    for name, other, own_learner in ((first, second, learner), (second, first, partner)):
        agent = _make_learning_agent(name, own_learner, context, "pair", addresses)
        agent.set_belief("partner", addresses[other])
        episodes = _max_episodes(own_learner.progress)
        agent.set_belief("share_every", max(1, episodes // _SHARES_PER_RUN))
        _add_initial_goal(agent, own_learner, context.settings)
        members.append(agent)
    return Team(members, list(members), [partner])


def _make_learning_agent(
    name: str,
    learner: TableLearner,
    context: AgentContext,
    default_plans: str,
    addresses: dict[str, str],
) -> LearningAgent:
    settings = context.settings
    agent = LearningAgent(
        learner,
        settings,
        name,
        context.gate,
        context.transport,
        find_plan_file(settings.asl, default_plans),
        context.diagnostics,
        context.sink,
        {member: address for member, address in addresses.items() if member != name},
    )
    agent.initialize_beliefs()
    return agent


def _add_initial_goal(agent: TeamAgent, learner: TableLearner, settings: AgentSettings) -> None:
    goal, values = initial_goal(settings, learner.progress)
    agent.add_goal(goal, *values)


def initial_goal(
    settings: AgentSettings, progress: LearningProgress
) -> tuple[str, tuple[int, ...]]:
    """Return the name and arguments of the first goal of a run."""
    if settings.stop_when_reached:
        return "reach_goal", ()
    return "train", (_max_episodes(progress),)


def _max_episodes(progress: LearningProgress) -> int:
    """Return an upper bound of the run's episodes; an episode has at least one step."""
    return progress.total_episodes or progress.total_steps or 1
