"""Pausing, single steps, resetting, speed and configuration of a running session."""

from typing import Any

import pytest
from workers.session_worker.tests.session_process import SessionProcess, StartSession

pytestmark = pytest.mark.process

COUNTING = "odd_environments:CountingEnv-v0"


def test_pause_single_steps_and_resume(start: StartSession) -> None:
    """While paused it takes only requested steps, which have the command's number."""
    session = start(
        "random",
        COUNTING,
        env_kwargs={"length": 1_000_000},
        params={"tick_ms": 5},
        telemetry={"frames": True},
    )
    session.wait_for_steps(2)
    session.pause()
    paused_count = len(session.steps())
    last = session.steps()[-1]["step"]
    assert session.wait_for_frame(lambda frame: frame.step == last)
    one = session.command("step")
    many = session.command("step", count=3)
    session.wait_for_steps(paused_count + 4)
    session.wait_for_commands()
    steps = session.steps()[paused_count:]
    assert [step["seq"] for step in steps] == [one, many, many, many]
    assert session.frame().seq == many
    session.command("resume")
    session.wait_for_steps(paused_count + 6)
    states = [status["state"] for status in session.events("status")]
    assert states == ["running", "paused", "running"]
    rejected = session.command("step")
    session.wait_for("log", code="W144", fields={"cmd": "step", "seq": rejected})


def test_every_pause_command_is_confirmed(start: StartSession) -> None:
    """The trainer waits for that line, also if the session had paused itself."""
    session = start("random", COUNTING, params={"start_paused": True})
    session.wait_for("status", state="paused")
    session.pause()
    states = [status["state"] for status in session.events("status")]
    assert states == ["running", "paused", "paused"]


def test_reset_with_a_seed_is_reproducible(start: StartSession) -> None:
    """The previous episode stays unfinished."""
    session = start("human", "CartPole-v1", params={"start_paused": True})
    session.wait_for("status", state="paused")
    for _ in range(2):
        session.command("reset", seed=11)
        session.command("step", count=3)
    session.command("reset")
    session.command("step", count=3)
    steps = session.wait_for_steps(9)
    starts = session.events("episode_start")
    assert [start.get("seed") for start in starts] == [5, 11, 11, None]
    observations = [[step["obs"] for step in steps[first : first + 3]] for first in (0, 3, 6)]
    assert observations[0] == observations[1] != observations[2]
    ends = [(end["terminated"], end["truncated"]) for end in session.events("episode")]
    assert ends == [(False, False)] * 2


def test_an_invalid_seed_is_rejected(start: StartSession) -> None:
    """The current episode continues."""
    session = start("random", COUNTING)
    session.wait_for_steps(1)
    for seed in ("seven", -1, 1.5, True):
        seq = session.command("reset", seed=seed)
        session.wait_for("log", code="W144", fields={"cmd": "reset", "seq": seq})
    assert len(session.events("episode_start")) == 1


def test_auto_reset_off_waits_for_reset(start: StartSession) -> None:
    """The end of an episode is written, no step follows until a reset, and it can be turned on."""
    session = start(
        "random", COUNTING, env_kwargs={"length": 3}, params={"tick_ms": 1, "auto_reset": False}
    )
    session.wait_for("log", code="W145")
    session.wait_for_commands()
    assert (len(session.events("episode")), len(session.steps())) == (1, 3)
    session.command("pause")
    session.command("reset")
    session.command("step", count=10)
    session.until(lambda: len(session.events("episode")) == 2, "the second episode")
    session.wait_for_commands()
    assert len(session.steps()) == 6
    session.command("resume")
    session.command("configure", auto_reset=True)
    session.until(lambda: len(session.events("episode")) >= 4, "automatic episodes")


def test_speed_zero_is_unlimited(start: StartSession) -> None:
    """Also for a session with a minute per step."""
    session = start("random", COUNTING, params={"tick_ms": 60_000})
    session.wait_for("episode_start")
    session.command("speed", value=0)
    session.wait_for_steps(100)


def test_a_speed_close_to_zero_can_be_changed(start: StartSession) -> None:
    """The session waits, but handles commands."""
    session = start("random", COUNTING)
    session.wait_for_steps(1)
    session.command("speed", value=1e-300)
    session.wait_for_commands()
    paused_count = len(session.steps())
    session.command("speed", value=0)
    session.wait_for_steps(paused_count + 100)


def test_configure_changes_the_map_at_the_next_reset(start: StartSession) -> None:
    """The new environment is announced; invalid arguments keep the current one."""
    session = start("human", "FrozenLake-v1", env_kwargs={"is_slippery": False})
    session.wait_for("episode_start")
    session.command("configure", env_kwargs={"desc": ["SF", "FG"], "is_slippery": False})
    session.command("action", value=2)
    assert session.wait_for_steps(1)[0]["obs"] == 1
    session.command("reset")
    session.until(lambda: len(session.events("environment")) == 2, "the new environment")
    session.command("action", value=1)
    assert session.wait_for_steps(2)[1]["obs"] == 2
    session.command("configure", env_kwargs={"desc": ["SH", "HG"]})
    reset = session.command("reset")
    error = session.wait_for("log", code="W146")
    assert "no path" in error["message"]
    assert error["fields"] == {"seq": reset}
    session.command("action", value=1)
    assert session.wait_for_steps(3)[2]["obs"] == 2
    assert len(session.events("environment")) == 2


def test_an_actor_is_recreated_for_a_changed_environment(start: StartSession) -> None:
    """The planner plans for the new map, and the run ends after its episodes."""
    session = start(
        "scripted",
        "FrozenLake-v1",
        env_kwargs={"is_slippery": False},
        params={"speed": 0, "start_paused": True},
        max_episodes=1,
    )
    session.wait_for("status", state="paused")
    session.command("configure", env_kwargs={"map_name": "8x8", "is_slippery": False})
    session.command("reset")
    session.command("resume")
    assert session.wait() == 0
    (episode,) = session.events("episode")
    assert (episode["steps"], episode["return"]) == (14, 1.0)


def fields_of_rejection(session: SessionProcess, seq: int) -> dict[str, object]:
    def find() -> dict[str, object] | None:
        logs = [log["fields"] for log in session.events("log") if log["code"] == "W144"]
        return next((fields for fields in logs if fields["seq"] == seq), None)

    return session.until(find, f"an answer to {seq}")


def test_invalid_commands_are_answered(start: StartSession) -> None:
    """Each answer has its command, and the session continues."""
    session = start("human", COUNTING)
    session.wait_for("episode_start")
    invalid: list[tuple[str, dict[str, Any]]] = [
        ("release", {}),
        ("speed", {"value": -1}),
        ("speed", {}),
        ("step", {"count": 10**12}),
        ("configure", {"auto_reset": "yes"}),
        ("configure", {"env_kwargs": [1]}),
        ("set_actor", {}),
    ]
    for cmd, fields in invalid:
        seq = session.command(cmd, **fields)
        assert fields_of_rejection(session, seq)["cmd"] == cmd
    before = len(session.steps())
    session.wait_for_steps(before + 1)
