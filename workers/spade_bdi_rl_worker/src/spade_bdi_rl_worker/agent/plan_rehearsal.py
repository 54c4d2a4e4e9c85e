"""Reads a person's plans as a run would, and takes up its first goal, without carrying it out.

Asked by a dry run, in the bundle's Python, after `import_spade`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import agentspeak
import agentspeak.stdlib
from agentspeak.runtime import Environment, Intention

from spade_bdi_rl_worker.agent.deliberation import Deliberation
from spade_bdi_rl_worker.agent.learning_agent import (
    LearningAgent,
    beliefs_about,
    beliefs_about_run,
)
from spade_bdi_rl_worker.agent.plan_files import load_plans, plan_file
from spade_bdi_rl_worker.agent.plan_problems import PlanProblems
from spade_bdi_rl_worker.agent.terms import percept
from spade_bdi_rl_worker.teams.names import ALONE
from spade_bdi_rl_worker.teams.roles import first_goal

if TYPE_CHECKING:
    from agentspeak import Actions

    from spade_bdi_rl_worker.learning.learner import Progress
    from spade_bdi_rl_worker.settings import AgentSettings


def rehearse_plans(settings: AgentSettings, progress: Progress) -> None:
    """`progress` is that of a run that has not begun. `WorkerError` names file and line.

    In a team, teammates give goals and beliefs: there only whether the plans can be read is seen.
    """
    problems = PlanProblems()
    problems.install()
    path = plan_file(settings.asl, "learner")
    mind, _ = load_plans(path, Environment(), _known_actions(), problems, settings.agent_name)
    if settings.team != ALONE:
        return
    addition = agentspeak.Trigger.addition
    beliefs = {**beliefs_about_run(settings, progress), **beliefs_about(progress)}
    for name, value in beliefs.items():
        mind.call(addition, agentspeak.GoalType.belief, percept(name, value), Intention())
    goal = agentspeak.Literal(*first_goal(settings, progress))
    mind.call(addition, agentspeak.GoalType.achievement, goal, Intention())


def _known_actions() -> Actions:
    """All that plans of a learner can do, of an agent that will never do any."""
    nobody = LearningAgent.__new__(LearningAgent)
    nobody.bdi_actions = agentspeak.Actions(agentspeak.stdlib.actions)
    behaviour = Deliberation.__new__(Deliberation)
    behaviour.agent = nobody
    behaviour.add_actions()
    nobody.add_custom_actions(nobody.bdi_actions)
    return nobody.bdi_actions
