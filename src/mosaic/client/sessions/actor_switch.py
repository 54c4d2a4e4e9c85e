"""Putting another actor into a session: within its process, or by a run that takes its place.

Either way the actor before acts on until the new one does, and stays when the new one cannot.
"""

from dataclasses import dataclass

from mosaic.client.sessions.actor_descriptors import HUMAN, is_of_session_worker
from mosaic.client.sessions.followed_run import FollowedRun
from mosaic.client.sessions.session_requests import SESSION_WORKER
from mosaic.client.sessions.session_state import SessionProblem
from mosaic.contract.events import Log

NOT_ANSWERED = "C218"
"""The worker has not answered whether another actor may act; the one before acts on."""
NOT_SUCCEEDED = "C219"
"""The run of another actor ended before its first step; the actor before goes on."""

_ANSWER_S = 30.0
"""An actor may have to be imported or loaded first."""


def name_in_place(run: FollowedRun, actor: str) -> str | None:
    """What the run's own worker calls the actor; None when it takes another run to have it act."""
    if actor == HUMAN:
        return HUMAN  # every play loop knows the person at the controls
    if run.config.worker == SESSION_WORKER and is_of_session_worker(actor):
        return actor
    return run.name_of(actor)


@dataclass(frozen=True, slots=True)
class CastInPlace:
    """The worker was told to let another actor act, and has not answered yet."""

    actor: str
    seq: int
    """Of the command; the worker's answer carries it."""
    asked_at: float

    @property
    def deadline(self) -> float:
        return self.asked_at + _ANSWER_S

    def verdict(self, line: Log) -> SessionProblem | bool | None:
        """True when the actor acts, the problem when it cannot, None when this is no answer."""
        fields = line.fields if isinstance(line.fields, dict) else {}
        if fields.get("seq") != self.seq:
            return None
        return True if line.level == "info" else SessionProblem(line.message, code=line.code)

    def too_late(self) -> SessionProblem:
        return SessionProblem(
            f"The worker has not answered whether '{self.actor}' may act; the one before acts on.",
            "Try again; the run's log may say what keeps it busy.",
            NOT_ANSWERED,
        )


@dataclass(frozen=True, slots=True)
class Succession:
    """A run that is to take the place of the session's own, once it has begun."""

    run: FollowedRun
    actor: str
    was_running: bool
    """The session's own run stands still only for this."""

    def failure(self) -> SessionProblem:
        record = self.run.state.run
        why = record.reason if record else ""
        return SessionProblem(
            f"'{self.actor}' could not take its place, and the actor before goes on. {why}".strip(),
            (record.remedy if record else "") or "The log of its run says more.",
            NOT_SUCCEEDED,
        )
