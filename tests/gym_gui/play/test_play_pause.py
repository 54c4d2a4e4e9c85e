"""PlayPause: the pause reason, from session states only."""

from gym_gui.play.model.play_model import PlayPause
from gym_gui.runtime.session_service import SessionPhase, SessionProblem, SessionState

RUNNING = SessionState(phase=SessionPhase.RUNNING)
PAUSED = SessionState(phase=SessionPhase.PAUSED)
LOST = SessionState(phase=SessionPhase.RUNNING, is_connected=False)


def test_a_reconnect_is_reported_once() -> None:
    """With the first state after the connection was lost, and not again."""
    pause = PlayPause()
    assert [pause.update(state) for state in (RUNNING, LOST, LOST, RUNNING, RUNNING)] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_the_reason_lasts_until_the_session_resumes() -> None:
    """It is set before the session pauses."""
    pause = PlayPause()
    pause.start("the window is inactive")
    for state in (RUNNING, PAUSED):
        pause.update(state)
        assert pause.reason == "the window is inactive"
    pause.update(RUNNING)
    assert pause.reason == ""


def test_a_resume_is_pending_until_it_succeeds_or_fails() -> None:
    """Keys are accepted while it is pending."""
    pause = PlayPause()
    pause.update(PAUSED)
    pause.end()
    pause.update(PAUSED)
    assert pause.is_resuming
    pause.update(SessionState(phase=SessionPhase.PAUSED, error=SessionProblem("No.")))
    assert not pause.is_resuming
