"""Environments that fail end at most their own session."""

import signal

import pytest
from workers.session_worker.tests.session_process import StartSession

pytestmark = pytest.mark.process

FRAMES = {"telemetry": {"frames": True}}


@pytest.mark.parametrize(
    ("env_id", "method", "error", "steps"),
    [
        ("RaisesInReset-v0", "reset", "RuntimeError: no such level", 0),
        ("RaisesInStep-v0", "step", "ZeroDivisionError: invalid mass", 2),
    ],
)
def test_an_environment_that_raises_fails_the_run(
    start: StartSession, env_id: str, method: str, error: str, steps: int
) -> None:
    """The error has the exception, the method and a remedy; the traceback is in the log."""
    session = start("random", f"odd_environments:{env_id}", params={"speed": 0})
    assert session.wait() == 1
    bye = session.events()[-1]
    assert bye["outcome"] == "failed"
    assert f"failed in {method}: {error}" in bye["error"]
    assert bye["remedy"]
    assert error in session.log.read_text()
    assert len(session.steps()) == steps


def test_an_environment_that_crashes_ends_only_its_process(start: StartSession) -> None:
    """With the signal as exit status, earlier steps written, and other sessions unaffected."""
    other = start("random", "odd_environments:CountingEnv-v0")
    session = start("random", "odd_environments:CrashesInStep-v0", params={"tick_ms": 20})
    assert session.wait() == -signal.SIGSEGV
    assert len(session.steps()) == 2
    assert session.events("bye") == []
    before = len(other.steps())
    other.wait_for_steps(before + 2)
    other.command("stop")
    assert other.wait() == 0


@pytest.mark.parametrize(
    ("env_id", "text"),
    [
        ("RendersNone-v0", "render() returned None"),
        ("RendersFloats-v0", "float64"),
        ("RaisesInRender-v0", "OSError: no display"),
    ],
)
def test_without_frames_the_session_continues(start: StartSession, env_id: str, text: str) -> None:
    """One warning, and every step is written."""
    session = start(
        "random", f"odd_environments:{env_id}", params={"speed": 0}, episodes=2, **FRAMES
    )
    assert session.wait() == 0
    (warning,) = session.events("log")
    assert (warning["level"], warning["code"]) == ("warning", "W140")
    assert text in warning["message"]
    assert len(session.events("episode")) == 2
    assert not (session.folder / "frames").exists()


def test_frames_may_change_their_size(start: StartSession) -> None:
    """Each frame has its own size."""
    env_id = "odd_environments:GrowingFrame-v0"
    session = start("human", env_id, params={"start_paused": True}, **FRAMES)
    first = session.wait_for_frame(lambda frame: frame.step == -1)
    assert (first.width, first.height) == (20, 16)
    session.command("step", count=2)
    grown = session.wait_for_frame(lambda frame: frame.step == 1)
    assert (grown.width, grown.height, grown.first_byte) == (20, 18, 2)
    assert session.events("log") == []


def test_the_last_step_of_a_fast_session_is_rendered(start: StartSession) -> None:
    """Although most frames are skipped."""
    env_id = "odd_environments:CountingEnv-v0"
    session = start("random", env_id, params={"speed": 0}, total_timesteps=150, **FRAMES)
    assert session.wait() == 0
    frame = session.frame()
    assert (frame.step, frame.first_byte, frame.step_line["step"]) == (49, 50, 49)


def test_an_environment_that_cannot_be_created_fails_the_run(start: StartSession) -> None:
    """With the reason, not only a traceback."""
    session = start("random", "FrozenLake-v1", env_kwargs={"desc": ["SH", "HG"]})
    assert session.wait() == 1
    bye = session.events()[-1]
    assert "no path" in bye["error"]
    assert bye["remedy"]
