"""TelemetrySink: where learners and agents write metrics, BDI updates and log messages.

`RunTelemetrySink` writes them as events of a run, and to TensorBoard and W&B.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker import Run

    StepAnnotator = Callable[[Mapping[str, Any]], None]

TRAINING_INFO = "W290"
"""Information about the training, such as the table that it starts from."""


@dataclass(frozen=True)
class IntentionState:
    """An intention: its goal, the plan chosen for it, and the depth of its subgoals."""

    goal: str
    plan: str = ""
    depth: int = 1


@dataclass(frozen=True)
class BdiUpdate:
    """Changes of an agent's beliefs, and its current goals and intentions.

    Texts are AgentSpeak literals.
    """

    agent: str = ""
    """Its name, if there are several agents."""
    added: tuple[str, ...] = ()
    """Beliefs that were added since the last update."""
    removed: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    intentions: tuple[IntentionState, ...] = ()
    """All current intentions, not only new ones."""
    plan: str = ""
    """Label of the plan that fired, as in the .asl file."""
    confidence: float | None = None
    """Success rate relative to the target, from 0 to 1."""

    def as_fields(self) -> dict[str, Any]:
        """Return the fields of a `bdi` event; empty ones are omitted."""
        fields: dict[str, Any] = {
            "added": list(self.added),
            "removed": list(self.removed),
            "goals": list(self.goals),
            "intentions": [
                {"goal": intention.goal, "plan": intention.plan, "depth": intention.depth}
                for intention in self.intentions
            ],
            "plan": self.plan,
            "confidence": self.confidence,
        }
        return {name: value for name, value in fields.items() if value not in ([], "", None)}


class TelemetrySink(Protocol):
    """Receives the telemetry of a training run. Thread-safe."""

    def report_bdi(self, update: BdiUpdate) -> None:
        """Write a change of an agent's beliefs, goals or intentions."""

    def set_step_annotator(self, agent_id: str | None, annotate: StepAnnotator) -> None:
        """Also pass that agent's BDI updates to `annotate`; None: of the only agent."""

    def log(self, level: str, code: str, message: str, **fields: Any) -> None:
        """Write a message for the user; `level` is info, warning or error."""

    def report_metrics(
        self, values: Mapping[str, float], step: int, agent_id: str | None = None
    ) -> None:
        """Write one point of several curves; `agent_id` if there are several agents."""


class RunTelemetrySink:
    """The sink of one run. A BDI update is also attached to the next step of its agent's learner.

    A coach has no steps: its updates are written only as events.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._trackers = run.trackers
        self._annotators: dict[str | None, StepAnnotator] = {}

    def set_step_annotator(self, agent_id: str | None, annotate: StepAnnotator) -> None:
        self._annotators[agent_id] = annotate

    def report_bdi(self, update: BdiUpdate) -> None:
        fields = update.as_fields()
        emitter = self._run.emitter
        emitter.emit(
            "bdi",
            step=self._run.heartbeat.global_step,
            agent_id=update.agent or None,
            **fields,
            t=emitter.time(),
        )
        annotate = self._annotators.get(update.agent) or self._annotators.get(None)
        if annotate is not None:
            annotate(fields)

    def log(self, level: str, code: str, message: str, **fields: Any) -> None:
        self._run.emitter.log(level, code, message, **fields)
        print(f"{level}: {message}", file=sys.stderr, flush=True)  # the run's log

    def report_metrics(
        self, values: Mapping[str, float], step: int, agent_id: str | None = None
    ) -> None:
        rounded = {name: float(f"{value:.6g}") for name, value in values.items()}
        self._run.emitter.metrics(rounded, step=step, agent_id=agent_id)
        # Trackers have no agents; the trainer prefixes names in the same way.
        prefix = f"{agent_id}/" if agent_id else ""
        self._trackers.scalars({f"{prefix}{name}": value for name, value in rounded.items()}, step)

    def close(self) -> None:
        self._trackers.close()
