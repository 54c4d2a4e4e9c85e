"""Who is in a team, which plans each member has, and who decides when the run is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent.learning_agent import LearningAgent
from spade_bdi_rl_worker.agent.plan_files import plan_file
from spade_bdi_rl_worker.agent.team_agent import TeamAgent
from spade_bdi_rl_worker.teams.names import ALONE, COACH, PAIR, learner_name, partner_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from spade_bdi_rl_worker.agent.gate import Gate
    from spade_bdi_rl_worker.agent.plan_problems import PlanProblems
    from spade_bdi_rl_worker.learning.learner import Learner, Progress
    from spade_bdi_rl_worker.messaging.link import Link
    from spade_bdi_rl_worker.settings import AgentSettings
    from spade_bdi_rl_worker.telemetry.outlet import Outlet

_LESSONS = 10
_SHARES = 50


@dataclass
class Team:
    """All its members, and those whose `.done` ends the run."""

    members: list[TeamAgent]
    deciders: list[TeamAgent]
    twins: list[Learner]
    """Learners that were made for the team, and are to be closed with it."""


@dataclass(frozen=True)
class Surroundings:
    """What every member is made of."""

    settings: AgentSettings
    gate: Gate
    link: Link
    problems: PlanProblems
    outlet: Outlet


def assemble(learner: Learner, around: Surroundings) -> Team:
    """The team that the settings name, with its goals. Raises `WorkerError`."""
    makers: dict[str, Callable[[Learner, Surroundings], Team]] = {
        ALONE: _alone,
        COACH: _with_coach,
        PAIR: _pair,
    }
    make = makers.get(around.settings.team)
    if make is None:
        raise WorkerError(
            f"`team`: there is no team {around.settings.team!r}.",
            remedy=f"Choose one of {', '.join(makers)}.",
        )
    return make(learner, around)


def _alone(learner: Learner, around: Surroundings) -> Team:
    agent = _learning_agent(learner_name(around.settings), learner, around, "learner", {})
    _give_goal(agent, learner, around.settings)
    return Team([agent], [agent], [])


def _with_coach(learner: Learner, around: Surroundings) -> Team:
    settings = around.settings
    name = learner_name(settings)
    addresses = {each: around.link.address_of(each) for each in (name, COACH)}
    agent = _learning_agent(name, learner, around, "learner", addresses)
    agent.believe(COACH, addresses[COACH])
    plans = plan_file("", COACH)
    pupil = {name: addresses[name]}
    coach = TeamAgent(COACH, around.gate, around.link, plans, around.problems, around.outlet, pupil)
    coach.believe("learner", addresses[name])
    coach.believe("target", float(settings.goal_success_rate))
    coach.believe("evaluation", settings.evaluation_episodes)
    coach.believe("lesson", max(1, _episodes(learner) // _LESSONS))
    _give_goal(coach, learner, settings)
    return Team([agent, coach], [coach], [])


def _pair(learner: Learner, around: Surroundings) -> Team:
    first, second = learner_name(around.settings), partner_name(around.settings)
    twin = learner.twin(second)
    addresses = {each: around.link.address_of(each) for each in (first, second)}
    members = []
    for name, partner, each in ((first, second, learner), (second, first, twin)):
        agent = _learning_agent(name, each, around, "pair", addresses)
        agent.believe("partner", addresses[partner])
        agent.believe("share_every", max(1, _episodes(each) // _SHARES))
        _give_goal(agent, each, around.settings)
        members.append(agent)
    return Team(list(members), list(members), [twin])


def _learning_agent(
    name: str, learner: Learner, around: Surroundings, plans: str, teammates: dict[str, str]
) -> LearningAgent:
    settings = around.settings
    agent = LearningAgent(
        learner,
        settings,
        name,
        around.gate,
        around.link,
        plan_file(settings.asl, plans),
        around.problems,
        around.outlet,
        {each: address for each, address in teammates.items() if each != name},
    )
    agent.begin()
    return agent


def _give_goal(agent: Any, learner: Learner, settings: AgentSettings) -> None:
    goal, values = first_goal(settings, learner.progress)
    agent.pursue(goal, *values)


def first_goal(settings: AgentSettings, progress: Progress) -> tuple[str, tuple[int, ...]]:
    """What a run asks of its agents: a goal's name and values."""
    if settings.stop_when_reached:
        return "reach_goal", ()
    return "train", (_most_episodes(progress),)


def _episodes(learner: Learner) -> int:
    return _most_episodes(learner.progress)


def _most_episodes(progress: Progress) -> int:
    """How many a run has at most: where its steps decide, an episode has at least one."""
    return progress.total_episodes or progress.total_steps or 1
