"""Switching the actor of a session: within the worker process, or by handing over to another run.

In both cases the previous actor keeps acting until the next one does, and if the switch fails.
"""

from dataclasses import dataclass

from mosaic.client.sessions.actor_descriptors import HUMAN, is_session_worker_actor
from mosaic.client.sessions.followed_run import FollowedRun
from mosaic.client.sessions.session_requests import SESSION_WORKER
from mosaic.client.sessions.session_state import SessionProblem
from mosaic.contract.events import Log

NO_REPLY = "C218"
"""The worker did not reply to a switch of the actor; the previous actor keeps acting."""
HANDOVER_FAILED = "C219"
"""The run of the next actor ended before its first step; the previous actor keeps acting."""

_REPLY_TIMEOUT_S = 30.0
"""The worker may have to import or load the actor first."""


def find_in_process_name(run: FollowedRun, actor: str) -> str | None:
    """Return the actor's name in the run's worker; None if the actor needs another run."""
    if actor == HUMAN:
        return HUMAN  # every play loop supports a human actor
    if run.config.worker == SESSION_WORKER and is_session_worker_actor(actor):
        return actor
    return run.get_worker_name(actor)


@dataclass(frozen=True, slots=True)
class InProcessSwitch:
    """A switch within the worker process that waits for the worker's reply."""

    actor: str
    seq: int
    """Number of the command; the worker's reply contains it."""
    requested_at: float

    @property
    def deadline(self) -> float:
        return self.requested_at + _REPLY_TIMEOUT_S

    def read_reply(self, line: Log) -> SessionProblem | bool | None:
        """Return True if the actor now acts, the problem if it cannot, None for any other line."""
        fields = line.fields if isinstance(line.fields, dict) else {}
        if fields.get("seq") != self.seq:
            return None
        return True if line.level == "info" else SessionProblem(line.message, code=line.code)

    def timeout_problem(self) -> SessionProblem:
        return SessionProblem(
            f"The worker did not confirm the actor '{self.actor}'; the previous one keeps acting.",
            "Try again; the run's log may show what the worker is doing.",
            NO_REPLY,
        )


@dataclass(frozen=True, slots=True)
class RunHandover:
    """A run that replaces the current run of the session once it has started."""

    run: FollowedRun
    actor: str
    was_running: bool
    """The current run was paused for the handover and resumes if it fails."""

    def failure_problem(self) -> SessionProblem:
        record = self.run.state.run
        reason = record.reason if record else ""
        return SessionProblem(
            f"'{self.actor}' could not start; the previous actor keeps acting. {reason}".strip(),
            (record.remedy if record else "") or "See the log of its run.",
            HANDOVER_FAILED,
        )
