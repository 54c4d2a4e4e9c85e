"""PlayPause: why a session stands still, told from its states alone."""

from gym_gui.play.model.play_pause import PlayPause
from gym_gui.runtime.session_service import SessionPhase, SessionProblem, SessionState

RUNNING = SessionState(phase=SessionPhase.RUNNING)
PAUSED = SessionState(phase=SessionPhase.PAUSED)
LOST = SessionState(phase=SessionPhase.RUNNING, is_connected=False)


def test_the_daemon_is_back_once() -> None:
    """It is said with the first state after it was lost, and not again."""
    pause = PlayPause()
    assert [pause.take(state) for state in (RUNNING, LOST, LOST, RUNNING, RUNNING)] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_a_reason_holds_until_the_session_goes_on() -> None:
    """From before it stands still, whoever lets it go on."""
    pause = PlayPause()
    pause.begin("of that")
    for state in (RUNNING, PAUSED):
        pause.take(state)
        assert pause.reason == "of that"
    pause.take(RUNNING)
    assert pause.reason == ""


def test_going_on_is_asked_for_until_it_happens_or_fails() -> None:
    """A key that comes meanwhile already counts."""
    pause = PlayPause()
    pause.take(PAUSED)
    pause.end()
    pause.take(PAUSED)
    assert pause.is_ending
    pause.take(SessionState(phase=SessionPhase.PAUSED, error=SessionProblem("No.")))
    assert not pause.is_ending
