"""Checks a user's plans in a dry run: parses them and adds the first goal, without running it.

Runs in the bundle's Python, after `import_spade`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import agentspeak
import agentspeak.stdlib
from agentspeak.runtime import Environment, Intention

from spade_bdi_rl_worker.agent.deliberation import Deliberation
from spade_bdi_rl_worker.agent.learning_agent import LearningAgent, progress_beliefs, run_beliefs
from spade_bdi_rl_worker.agent.plan_diagnostics import DiagnosticCollector
from spade_bdi_rl_worker.agent.plan_files import find_plan_file, load_plans
from spade_bdi_rl_worker.agent.terms import make_percept
from spade_bdi_rl_worker.settings import ALONE
from spade_bdi_rl_worker.teams.team import initial_goal

if TYPE_CHECKING:
    from agentspeak import Actions

    from spade_bdi_rl_worker.learning.learner import LearningProgress
    from spade_bdi_rl_worker.settings import AgentSettings


def check_plans(settings: AgentSettings, progress: LearningProgress) -> None:
    """Raise `WorkerError` with file and line if the plans cannot start a run.

    `progress` is that of a run that has not started. In a team, goals and beliefs come from
    teammates, so only the syntax is checked.
    """
    diagnostics = DiagnosticCollector()
    diagnostics.install()
    path = find_plan_file(settings.asl, "learner")
    agent, _ = load_plans(path, Environment(), _learner_actions(), diagnostics, settings.agent_name)
    if settings.team != ALONE:
        return
    addition = agentspeak.Trigger.addition
    beliefs = {**run_beliefs(settings, progress), **progress_beliefs(progress)}
    for name, value in beliefs.items():
        agent.call(addition, agentspeak.GoalType.belief, make_percept(name, value), Intention())
    goal = agentspeak.Literal(*initial_goal(settings, progress))
    agent.call(addition, agentspeak.GoalType.achievement, goal, Intention())


def _learner_actions() -> Actions:
    """Return the actions of a learning agent, from an instance that is never started."""
    agent = LearningAgent.__new__(LearningAgent)
    agent.bdi_actions = agentspeak.Actions(agentspeak.stdlib.actions)
    behaviour = Deliberation.__new__(Deliberation)
    behaviour.agent = agent
    behaviour.add_actions()
    agent.add_custom_actions(agent.bdi_actions)
    return agent.bdi_actions
