"""A human plays: actions are commands, and can be traced to their step and frame."""

import pytest
from workers.session_worker.tests.session_process import StartSession

pytestmark = pytest.mark.process

LAKE = {"env_kwargs": {"is_slippery": False}}
RIGHT, DOWN = 2, 1
TO_THE_GOAL = (DOWN, DOWN, RIGHT, DOWN, RIGHT, RIGHT)


def test_each_human_action_is_one_step(start: StartSession) -> None:
    """The step and its frame have the command's number."""
    session = start("human", "FrozenLake-v1", **LAKE, telemetry={"frames": True})
    first = session.wait_for_frame(lambda frame: frame.step == -1)
    assert (first.step_line["type"], first.step_line["obs"]) == ("episode_start", 0)
    seqs = [session.command("action", value=action) for action in TO_THE_GOAL]
    steps = session.wait_for_steps(6)
    assert [step["seq"] for step in steps] == seqs
    assert [step["action"] for step in steps] == list(TO_THE_GOAL)
    assert [step["obs"] for step in steps] == [4, 8, 9, 13, 14, 15]
    assert {step["actor"] for step in steps} == {"human"}
    assert session.wait_for("episode")["return"] == 1.0
    next_episode = session.wait_for("episode_start", episode=1)
    assert next_episode["start"]["kind"] == "pcg64"
    seq = session.command("action", value=DOWN)
    frame = session.wait_for_frame(lambda frame: frame.seq == seq)
    assert (frame.step, frame.step_line["seq"], frame.step_line["obs"]) == (0, seq, 4)


def test_an_invalid_action_is_rejected(start: StartSession) -> None:
    """The answer has the command, and the session continues."""
    session = start("human", "FrozenLake-v1", **LAKE)
    session.wait_for("episode_start")
    invalid = session.command("action", value=17)
    assert (
        "17"
        in session.wait_for("log", code="W144", fields={"cmd": "action", "seq": invalid})["message"]
    )
    missing = session.command("action")
    session.wait_for("log", code="W144", fields={"cmd": "action", "seq": missing})
    valid = session.command("action", value=DOWN)
    (step,) = session.wait_for_steps(1)
    assert step["seq"] == valid


def test_in_real_time_the_newest_action_is_repeated(start: StartSession) -> None:
    """Until the next one; before the first action, the idle action is used."""
    session = start("human", "MountainCar-v0", params={"start_paused": True, "idle_action": "1"})
    session.wait_for("status", state="paused")
    session.command("step", count=2)
    replaced = session.command("action", value=0)
    session.command("action", value=2)
    session.command("step", count=3)
    steps = session.wait_for_steps(5)
    assert [step["action"] for step in steps] == [1, 1, 2, 2, 2]
    assert replaced not in [step["seq"] for step in steps]
    session.command("resume")
    newest = session.command("action", value=0)
    step = session.wait_for("step", seq=newest)
    assert step["action"] == 0
    later = session.wait_for_steps(step["step"] + 3)[-1]
    assert (later["action"], "seq" in later) == (0, False)


def test_a_session_that_waits_for_an_action_can_be_stopped(start: StartSession) -> None:
    """It ends without an action."""
    session = start("human", "Blackjack-v1")
    session.wait_for("episode_start")
    session.command("stop")
    assert session.wait() == 0
    assert session.events()[-1] == {"type": "bye", "outcome": "cancelled"}
    assert session.steps() == []
