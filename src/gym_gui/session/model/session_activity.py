"""SessionActivity: what a session is doing, in words and numbers for buttons and a progress bar."""

from dataclasses import dataclass

from gym_gui.runtime.session_service import SessionPhase, SessionState
from mosaic.contract.run_states import RunState


@dataclass(frozen=True, slots=True)
class SessionActivity:
    """Made from a `SessionState` whenever that changes."""

    words: str = ""
    """What is waited for; empty when nothing is."""
    done: int = 0
    total: int = 0
    """0: how far it is cannot be said."""
    is_going: bool = False
    can_stop: bool = False
    can_reset: bool = False

    @property
    def is_waiting(self) -> bool:
        return bool(self.words)


WAITS_FOR_DAEMON = SessionActivity("Waiting for the trainer daemon", is_going=True, can_stop=True)
NO_DAEMON = SessionActivity(is_going=True, can_stop=True)
"""What is waited for is a person: the panel says so as a problem."""
ASKED_FOR = SessionActivity("Asking for a session", is_going=True, can_stop=True)


def activity_of(state: SessionState, next_actor: str) -> SessionActivity:
    """What a session that is played here is doing; `next_actor` is what a switch is to."""
    if not state.can_control or not state.phase.is_active:
        # A training that is watched is stopped where runs are listed, not here.
        return SessionActivity()
    match state.phase:
        case SessionPhase.STARTING:
            return _starting(state)
        case SessionPhase.STOPPING:
            return SessionActivity("Ending the session", is_going=True)
    words = f"Handing over to {next_actor}" if state.switching_to else ""
    return SessionActivity(words, is_going=True, can_stop=True, can_reset=True)


def _starting(state: SessionState) -> SessionActivity:
    run = state.run
    words, done, total = "Starting the environment", 0, 0
    if run is not None and run.state is RunState.QUEUED:
        words = "Waiting for its turn"
    elif run is not None and run.state is RunState.PREPARING:
        words = "Preparing its packages"
        if run.digest.progress_unit == "packages" and run.digest.progress_total:
            done, total = int(run.digest.progress_done or 0), int(run.digest.progress_total)
            words = f"Installing packages, {done} of {total}"
    return SessionActivity(words, done, total, is_going=True, can_stop=True)
