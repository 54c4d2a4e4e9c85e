"""What is told of a training, by whom: the learner tells figures, the agent what it thinks.

`RunOutlet` in `run_outlet.py` is the one of a run; tests bring a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Intention:
    """Something the agent is at: a goal, the plan chosen for it, and how deep it is in subgoals."""

    goal: str
    plan: str = ""
    depth: int = 1


@dataclass(frozen=True)
class BdiChange:
    """What changed in an agent's mind, and what it is at now. Texts are AgentSpeak literals."""

    agent: str = ""
    """Its name, where there are several."""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    """Beliefs."""
    goals: tuple[str, ...] = ()
    intentions: tuple[Intention, ...] = ()
    """All that there are now, not only new ones."""
    plan: str = ""
    """The plan that fired, as it stands in the .asl file."""
    confidence: float | None = None
    """From 0 to 1: how sure the agent is that it has what it is to reach."""

    def as_fields(self) -> dict[str, Any]:
        """As it is written; what is empty is left out."""
        fields: dict[str, Any] = {
            "added": list(self.added),
            "removed": list(self.removed),
            "goals": list(self.goals),
            "intentions": [
                {"goal": each.goal, "plan": each.plan, "depth": each.depth}
                for each in self.intentions
            ],
            "plan": self.plan,
            "confidence": self.confidence,
        }
        return {name: value for name, value in fields.items() if value not in ([], "", None)}


class Outlet(Protocol):
    """Where a training tells. Every method may be called from any thread."""

    def bdi(self, change: BdiChange) -> None:
        """Something changed in an agent's mind."""

    def note_on(self, agent_id: str | None, note: Callable[[Mapping[str, Any]], None]) -> None:
        """Give what changes in that agent's mind to `note` too; None: of the only agent."""

    def say(self, level: str, code: str, message: str, **fields: Any) -> None:
        """A sentence for people; `level` is info, warning or error."""

    def figures(self, values: Mapping[str, float], step: int, agent_id: str | None = None) -> None:
        """Points of several curves; `agent_id` says whose, where there are several agents."""
