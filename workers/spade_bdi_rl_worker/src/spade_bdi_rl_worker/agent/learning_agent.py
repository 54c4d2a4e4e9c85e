"""The agent that learns: its actions, and what it believes about how far it has come.

An action that uses the learner runs in the agent's own thread while the plan waits for it, so a
whole batch of episodes is one action, and the plans are looked at between batches only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spade.message import Message

from spade_bdi_rl_worker.agent.deliberation import VALUES
from spade_bdi_rl_worker.agent.team_agent import TeamAgent
from spade_bdi_rl_worker.agent.terms import fraction, text, whole_number
from spade_bdi_rl_worker.teams.shared_values import Parcels, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentspeak import Actions

    from spade_bdi_rl_worker.learning.learner import Learner, Progress, Score
    from spade_bdi_rl_worker.settings import AgentSettings

_SHARE_OF_RUN = 200
_LARGEST_BATCH = 500
_STEPS_PER_EPISODE = 100
"""Guessed, where a run is limited by its steps alone."""


class LearningAgent(TeamAgent):
    """A learner's mind. `plans/learner.asl` lists what it believes and what its plans can do."""

    def __init__(self, learner: Learner, settings: AgentSettings, *made_of: Any) -> None:
        self.learner = learner
        self._settings = settings
        self._parcels = Parcels()
        super().__init__(*made_of)

    def begin(self) -> None:
        """Take up the beliefs that a run gives it."""
        for name, value in beliefs_about_run(self._settings, self.learner.progress).items():
            self.believe(name, value)
        self._take_note(self.learner.progress)

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

    # Actions: called by AgentSpeak, which goes on at the `yield`.

    def _learn(self, _mind: Any, term: Any, intention: Any) -> Iterator[None]:
        episodes = whole_number(".learn", term.args[0], intention, least=1)
        go_on = self.gate.go_on
        self.carry_out(intention, lambda: self.learner.learn(episodes, go_on), self._take_note)
        yield

    def _evaluate(self, _mind: Any, term: Any, intention: Any) -> Iterator[None]:
        episodes = whole_number(".evaluate", term.args[0], intention, least=1)
        go_on = self.gate.go_on
        self.carry_out(intention, lambda: self.learner.evaluate(episodes, go_on), self._judge)
        yield

    def _explore(self, _mind: Any, term: Any, intention: Any) -> Iterator[None]:
        epsilon = fraction(".explore", term.args[0], intention)
        self._change(intention, lambda: self.learner.explore(epsilon))
        yield

    def _consolidate(self, _mind: Any, _term: Any, intention: Any) -> Iterator[None]:
        self._change(intention, self.learner.consolidate)
        yield

    def _save(self, _mind: Any, term: Any, intention: Any) -> Iterator[None]:
        why = text(term.args[0], intention)
        self.carry_out(intention, lambda: self.learner.save(why))
        yield

    def _share(self, _mind: Any, term: Any, intention: Any) -> Iterator[None]:
        receiver = text(term.args[0], intention)
        self.carry_out(
            intention,
            lambda: pack(self.learner.share()),
            lambda parcels: self._post(receiver, parcels),
        )
        yield

    def take_values(self, sender: str, body: str) -> None:
        """Merge what a teammate shared, after the batch that may be under way."""
        shared = self._parcels.add(sender, body)
        if shared is None:
            return

        def take() -> Progress:
            self.learner.take_over(shared)
            return self.learner.progress

        def note(progress: Progress) -> None:
            self._take_note(progress)
            taken = self._percepts.get("taken_over", ("", 0))[1]
            self.believe("taken_over", sender, taken + 1)

        self.carry_out(None, take, note)

    # What comes of them.

    def _change(self, intention: Any, change: Any) -> None:
        def job() -> Progress:
            change()
            return self.learner.progress

        self.carry_out(intention, job, self._take_note)

    def _post(self, receiver: str, parcels: list[str]) -> None:
        for parcel in parcels:
            message = Message(to=receiver, body=parcel, metadata={"performative": VALUES})
            self.submit(self.bdi.send(message))

    def _take_note(self, progress: Progress) -> None:
        if self.gate.is_over:
            self.end("stopped")
            return
        for name, value in beliefs_about(progress).items():
            self.believe(name, value)
        if progress.episodes:
            self._be_confident(progress.success_rate)
        if progress.is_complete:
            self.believe("complete")

    def _judge(self, score: Score) -> None:
        if self.gate.is_over:
            self.end("stopped")
            return
        self.believe(
            "evaluated", score.episodes, round(score.success_rate, 4), round(score.mean_return, 4)
        )
        self._be_confident(score.success_rate)

    def _be_confident(self, success_rate: float) -> None:
        target = self._settings.goal_success_rate
        self.confidence = round(min(1.0, success_rate / target), 4) if target > 0 else None


def beliefs_about_run(settings: AgentSettings, progress: Progress) -> dict[str, float]:
    """How the run was set up."""
    beliefs = {
        "batch": batch_size(settings, progress),
        "target": float(settings.goal_success_rate),
        "evaluation": settings.evaluation_episodes,
    }
    if settings.evaluate_every:
        beliefs["evaluate_every"] = settings.evaluate_every
    return beliefs


def beliefs_about(progress: Progress) -> dict[str, float]:
    """How far the learner is."""
    beliefs = {
        "episodes": progress.episodes,
        "steps": progress.steps,
        "progress": round(progress.done, 3),
        "exploration": round(progress.epsilon, 4),
        "coverage": round(progress.coverage, 4),
    }
    if progress.episodes:
        beliefs["success_rate"] = round(progress.success_rate, 4)
        beliefs["mean_return"] = round(progress.mean_return, 4)
        beliefs["td_error"] = round(progress.td_error, 6)
    return beliefs


def batch_size(settings: AgentSettings, progress: Progress) -> int:
    """Episodes of one action.

    By number and not by time, so that plans decide at the same episodes on every machine.
    """
    if settings.batch_episodes:
        return settings.batch_episodes
    episodes = progress.total_episodes or (progress.total_steps or 0) // _STEPS_PER_EPISODE
    return max(1, min(_LARGEST_BATCH, episodes // _SHARE_OF_RUN))
