"""The agent that learns: its actions, and its beliefs about the progress of learning.

An action that uses the learner runs in the agent's own thread while its intention waits, so a
batch of episodes is one action, and the agent deliberates between batches only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spade.message import Message

from spade_bdi_rl_worker.agent.deliberation import VALUES
from spade_bdi_rl_worker.agent.team_agent import TeamAgent
from spade_bdi_rl_worker.agent.terms import fraction_argument, integer_argument, text_argument
from spade_bdi_rl_worker.teams.value_sharing import ValueReceiver, encode_messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentspeak import Actions

    from spade_bdi_rl_worker.learning.learner import (
        EvaluationResult,
        LearningProgress,
        TableLearner,
    )
    from spade_bdi_rl_worker.settings import AgentSettings

_BATCHES_PER_RUN = 200
_MAX_BATCH_EPISODES = 500
_ASSUMED_EPISODE_STEPS = 100
"""Used to estimate the number of episodes of a run that is limited only by its steps."""


class LearningAgent(TeamAgent):
    """The BDI agent of one learner. `plans/learner.asl` lists its beliefs and actions."""

    def __init__(self, learner: TableLearner, settings: AgentSettings, *agent_args: Any) -> None:
        self.learner = learner
        self._settings = settings
        self._value_receiver = ValueReceiver()
        super().__init__(*agent_args)

    def initialize_beliefs(self) -> None:
        """Add the beliefs about the run's settings and its progress."""
        for name, value in run_beliefs(self._settings, self.learner.progress).items():
            self.set_belief(name, value)
        self._update_beliefs(self.learner.progress)

    def add_custom_actions(self, actions: Actions) -> None:
        super().add_custom_actions(actions)
        for name, arity, action in (
            (".learn", 1, self._learn),
            (".evaluate", 1, self._evaluate),
            (".explore", 1, self._explore),
            (".consolidate", 0, self._consolidate),
            (".save", 1, self._save),
            (".share", 1, self._share),
        ):
            actions.add(name, arity)(action)

    # Actions, called by AgentSpeak. The intention continues after the `yield`.

    def _learn(self, _agent: Any, term: Any, intention: Any) -> Iterator[None]:
        episodes = integer_argument(".learn", term.args[0], intention, minimum=1)
        should_continue = self.gate.should_continue
        self.run_job(
            intention, lambda: self.learner.learn(episodes, should_continue), self._update_beliefs
        )
        yield

    def _evaluate(self, _agent: Any, term: Any, intention: Any) -> Iterator[None]:
        episodes = integer_argument(".evaluate", term.args[0], intention, minimum=1)
        should_continue = self.gate.should_continue
        self.run_job(
            intention, lambda: self.learner.evaluate(episodes, should_continue), self._on_evaluated
        )
        yield

    def _explore(self, _agent: Any, term: Any, intention: Any) -> Iterator[None]:
        epsilon = fraction_argument(".explore", term.args[0], intention)
        self._change_learner(intention, lambda: self.learner.explore(epsilon))
        yield

    def _consolidate(self, _agent: Any, _term: Any, intention: Any) -> Iterator[None]:
        self._change_learner(intention, self.learner.consolidate)
        yield

    def _save(self, _agent: Any, term: Any, intention: Any) -> Iterator[None]:
        reason = text_argument(term.args[0], intention)
        self.run_job(intention, lambda: self.learner.save(reason))
        yield

    def _share(self, _agent: Any, term: Any, intention: Any) -> Iterator[None]:
        receiver = text_argument(term.args[0], intention)
        self.run_job(
            intention,
            lambda: encode_messages(self.learner.export_values()),
            lambda bodies: self._send_values(receiver, bodies),
        )
        yield

    def receive_values(self, sender: str, body: str) -> None:
        """Merge the values that a teammate shared, after the batch in progress."""
        shared = self._value_receiver.add(sender, body)
        if shared is None:
            return

        def merge() -> LearningProgress:
            self.learner.merge_values(shared)
            return self.learner.progress

        def on_merged(progress: LearningProgress) -> None:
            self._update_beliefs(progress)
            merges = self._percepts.get("taken_over", ("", 0))[1]
            self.set_belief("taken_over", sender, merges + 1)

        self.run_job(None, merge, on_merged)

    def _change_learner(self, intention: Any, change: Any) -> None:
        def job() -> LearningProgress:
            change()
            return self.learner.progress

        self.run_job(intention, job, self._update_beliefs)

    def _send_values(self, receiver: str, bodies: list[str]) -> None:
        for body in bodies:
            message = Message(to=receiver, body=body, metadata={"performative": VALUES})
            self.submit(self.bdi.send(message))

    def _update_beliefs(self, progress: LearningProgress) -> None:
        if self.gate.is_stopping:
            self.finish("stopped")
            return
        for name, value in progress_beliefs(progress).items():
            self.set_belief(name, value)
        if progress.episodes:
            self._update_confidence(progress.success_rate)
        if progress.is_complete:
            self.set_belief("complete")

    def _on_evaluated(self, result: EvaluationResult) -> None:
        if self.gate.is_stopping:
            self.finish("stopped")
            return
        rates = round(result.success_rate, 4), round(result.mean_return, 4)
        self.set_belief("evaluated", result.episodes, *rates)
        self._update_confidence(result.success_rate)

    def _update_confidence(self, success_rate: float) -> None:
        target = self._settings.goal_success_rate
        self.confidence = round(min(1.0, success_rate / target), 4) if target > 0 else None


def run_beliefs(settings: AgentSettings, progress: LearningProgress) -> dict[str, float]:
    """Return the beliefs about the run's settings."""
    beliefs = {
        "batch": batch_size(settings, progress),
        "target": float(settings.goal_success_rate),
        "evaluation": settings.evaluation_episodes,
    }
    if settings.evaluate_every:
        beliefs["evaluate_every"] = settings.evaluate_every
    return beliefs


def progress_beliefs(progress: LearningProgress) -> dict[str, float]:
    """Return the beliefs about the learner's progress."""
    beliefs = {
        "episodes": progress.episodes,
        "steps": progress.steps,
        "progress": round(progress.fraction, 3),
        "exploration": round(progress.epsilon, 4),
        "coverage": round(progress.coverage, 4),
    }
    if progress.episodes:
        beliefs["success_rate"] = round(progress.success_rate, 4)
        beliefs["mean_return"] = round(progress.mean_return, 4)
        beliefs["td_error"] = round(progress.td_error, 6)
    return beliefs


def batch_size(settings: AgentSettings, progress: LearningProgress) -> int:
    """Return the episodes per `.learn` action.

    It does not depend on the speed of the machine, so that plans decide at the same episodes.
    """
    if settings.batch_episodes:
        return settings.batch_episodes
    episodes = progress.total_episodes or (progress.total_steps or 0) // _ASSUMED_EPISODE_STEPS
    return max(1, min(_MAX_BATCH_EPISODES, episodes // _BATCHES_PER_RUN))
