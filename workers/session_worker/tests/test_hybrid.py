"""Agents and humans in one session: takeover, release, and actors that fail."""

import pytest
from workers.session_worker.tests.session_process import SessionProcess, StartSession

pytestmark = pytest.mark.process

COUNTING = "odd_environments:CountingEnv-v0"
CONSTANT = "scripted:odd_actors:ConstantActor"


def step_session(session: SessionProcess, count: int = 1) -> None:
    """Take single steps, and wait for them."""
    before = len(session.steps())
    session.command("step", count=count)
    session.wait_for_steps(before + count)


def test_takeover_and_release_in_the_middle_of_an_episode(start: StartSession) -> None:
    """Every step has its actor, and the episode continues."""
    session = start("scripted", COUNTING, actor=CONSTANT, params={"start_paused": True})
    session.wait_for("status", state="paused")
    step_session(session, 2)
    session.command("takeover")
    session.command("action", value=1)
    step_session(session, 2)
    seq = session.command("set_actor", actor="unknown")
    session.command("release")
    step_session(session, 2)
    session.command("set_actor", actor="human")
    step_session(session)
    session.command("set_actor", actor="random")
    step_session(session)
    steps = session.steps()
    actors = [step["actor"] for step in steps]
    assert actors == [CONSTANT] * 2 + ["human"] * 2 + [CONSTANT] * 2 + ["human", "random"]
    assert [step["action"] for step in steps][:7] == [2, 2, 1, 1, 2, 2, 0]
    assert {step["episode_id"] for step in steps} == {
        session.events("episode_start")[0]["episode_id"]
    }
    rejection = session.wait_for("log", code="W142")
    assert rejection["fields"] == {"cmd": "set_actor", "seq": seq}
    assert "scripted" in rejection["message"]
    reported = [log["fields"] for log in session.events("log") if log["code"] == "W141"]
    assert [fields["actor"] for fields in reported] == ["human", CONSTANT, "human", "random"]
    assert [fields["agent"] for fields in reported] == [CONSTANT, CONSTANT, "human", "random"]


@pytest.mark.parametrize(
    "name", ["RaisesInInit", "returns_no_actor", "raises_system_exit", "missing"]
)
def test_an_actor_that_cannot_be_created_keeps_the_previous_one(
    start: StartSession, name: str
) -> None:
    """The answer has the command, and the steps continue."""
    session = start("scripted", COUNTING, actor=CONSTANT)
    session.wait_for_steps(1)
    seq = session.command("set_actor", actor=f"scripted:odd_actors:{name}")
    rejection = session.wait_for("log", code="W142", level="error")
    assert rejection["fields"]["seq"] == seq
    before = len(session.steps())
    steps = session.wait_for_steps(before + 2)
    assert {step["actor"] for step in steps} == {CONSTANT}


@pytest.mark.parametrize(
    ("name", "steps", "message"),
    [
        ("RaisesAfterThreeSteps", 3, "no action for this observation"),
        ("OutOfBounds", 0, "3 is not an action"),
    ],
)
def test_an_actor_that_fails_pauses_the_session(
    start: StartSession, name: str, steps: int, message: str
) -> None:
    """The step is not taken, the reason is logged, and a human can continue."""
    session = start("scripted", COUNTING, actor=f"scripted:odd_actors:{name}", lease_s=30.0)
    paused = session.wait_for("status", state="paused")
    failure = session.wait_for("log", code="W143", level="error")
    assert message in failure["message"]
    assert paused["reason"] in failure["message"]
    assert len(session.steps()) == steps
    session.command("takeover")
    session.command("action", value=1)
    session.command("resume")
    step = session.wait_for("step", actor="human")
    assert (step["step"], step["action"]) == (steps, 1)


@pytest.mark.parametrize("mode", ["play", "evaluate"])
def test_an_actor_that_fails_without_a_human_fails_the_run(start: StartSession, mode: str) -> None:
    """The run ends with the reason."""
    session = start(
        "scripted", COUNTING, mode=mode, actor="scripted:odd_actors:RaisesAfterThreeSteps"
    )
    assert session.wait() == 1
    bye = session.events()[-1]
    assert bye["outcome"] == "failed"
    assert "LookupError: no action for this observation" in bye["error"]
    assert "Traceback" in session.log.read_text()


def test_human_actions_are_rejected_while_an_agent_acts(start: StartSession) -> None:
    """With one message for all of them."""
    session = start("scripted", COUNTING, actor=CONSTANT)
    session.wait_for_steps(1)
    for _ in range(5):
        session.command("action", value=0)
    session.wait_for_commands()
    rejections = [log for log in session.events("log") if log["fields"].get("cmd") == "action"]
    assert len(rejections) == 1
    assert {step["action"] for step in session.steps()} == {2}
