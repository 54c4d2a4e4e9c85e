"""PlayPause: why a session stands still, and whether it has been asked to go on.

Owned by `PlayModel`, which hands it each state.
"""

from gym_gui.runtime.session_service import SessionPhase, SessionState


class PlayPause:
    """Of one session after the other."""

    def __init__(self) -> None:
        self.reason = ""
        """Why a game was paused that its player could not go on with."""
        self.is_ending = False
        """It was asked to go on, and has not said yet that it does."""
        self._was_paused = False
        self._was_lost = False

    def begin(self, reason: str) -> None:
        self.reason = reason

    def end(self) -> None:
        self.reason = ""
        self.is_ending = True

    def take(self, state: SessionState) -> bool:
        """Whether the daemon is back: what it was sent meanwhile has not arrived."""
        is_paused = state.phase is SessionPhase.PAUSED
        if not is_paused or state.error is not None:
            self.is_ending = False
        if self._was_paused and not is_paused:
            self.reason = ""
        self._was_paused = is_paused
        is_back = self._was_lost and state.is_connected
        self._was_lost = not state.is_connected
        return is_back
