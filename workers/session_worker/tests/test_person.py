"""A human plays: actions are commands, and can be traced to their step and frame."""

import pytest
from workers.session_worker.tests.session_process import StartSession

pytestmark = pytest.mark.process

LAKE = {"env_kwargs": {"is_slippery": False}}
RIGHT, DOWN = 2, 1
TO_THE_GOAL = (DOWN, DOWN, RIGHT, DOWN, RIGHT, RIGHT)


def test_a_person_walks_over_the_lake(start: StartSession) -> None:
    """Each action is one step; step and frame have the command's number."""
    session = start("human", "FrozenLake-v1", **LAKE, telemetry={"frames": True})
    beginning = session.wait_for_frame(lambda frame: frame.step == -1)
    assert (beginning.step_line["type"], beginning.step_line["obs"]) == ("episode_start", 0)
    numbers = [session.command("action", value=action) for action in TO_THE_GOAL]
    steps = session.wait_for_steps(6)
    assert [step["seq"] for step in steps] == numbers
    assert [step["action"] for step in steps] == list(TO_THE_GOAL)
    assert [step["obs"] for step in steps] == [4, 8, 9, 13, 14, 15]
    assert {step["actor"] for step in steps} == {"human"}
    assert session.wait_for("episode")["return"] == 1.0
    next_one = session.wait_for("episode_start", episode=1)
    assert next_one["start"]["kind"] == "pcg64"
    again = session.command("action", value=DOWN)
    frame = session.wait_for_frame(lambda frame: frame.seq == again)
    assert (frame.step, frame.step_line["seq"], frame.step_line["obs"]) == (0, again, 4)


def test_an_invalid_action_is_rejected(start: StartSession) -> None:
    """The answer has the command, and the game continues."""
    session = start("human", "FrozenLake-v1", **LAKE)
    session.wait_for("episode_start")
    wrong = session.command("action", value=17)
    assert (
        "17"
        in session.wait_for("log", code="W144", fields={"cmd": "action", "seq": wrong})["message"]
    )
    lacking = session.command("action")
    session.wait_for("log", code="W144", fields={"cmd": "action", "seq": lacking})
    right = session.command("action", value=DOWN)
    (step,) = session.wait_for_steps(1)
    assert step["seq"] == right


def test_in_real_time_the_newest_action_is_held(start: StartSession) -> None:
    """Before the first action the idle action is used; then each is repeated until the next."""
    session = start("human", "MountainCar-v0", params={"start_paused": True, "idle_action": "1"})
    session.wait_for("status", state="paused")
    session.command("step", count=2)
    held = session.command("action", value=0)
    session.command("action", value=2)
    session.command("step", count=3)
    steps = session.wait_for_steps(5)
    assert [step["action"] for step in steps] == [1, 1, 2, 2, 2]
    assert held not in [step["seq"] for step in steps]
    session.command("resume")
    newest = session.command("action", value=0)
    step = session.wait_for("step", seq=newest)
    assert step["action"] == 0
    later = session.wait_for_steps(step["step"] + 3)[-1]
    assert (later["action"], "seq" in later) == (0, False)


def test_a_session_that_waits_for_a_person_can_be_stopped(start: StartSession) -> None:
    """Without an action."""
    session = start("human", "Blackjack-v1")
    session.wait_for("episode_start")
    session.command("stop")
    assert session.wait() == 0
    assert session.events()[-1] == {"type": "bye", "outcome": "cancelled"}
    assert session.steps() == []
