"""What the agents of a run are called, and whether its lines have to say whose they are.

Imports nothing of the bundle: learners are made, and tell, without agents too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spade_bdi_rl_worker.settings import AgentSettings

ALONE = "alone"
COACH = "coach"
PAIR = "pair"

_PUPIL = "learner"


def learner_name(settings: AgentSettings) -> str:
    """Of the learner that every team has."""
    is_taken = settings.team == COACH and settings.agent_name == COACH
    return _PUPIL if is_taken else settings.agent_name


def partner_name(settings: AgentSettings) -> str:
    """Of the second learner of a pair."""
    return f"{learner_name(settings)}2"


def told_as(settings: AgentSettings) -> str | None:
    """The `agent_id` of that learner's lines; None where it is the run's only agent."""
    return None if settings.team == ALONE else learner_name(settings)
