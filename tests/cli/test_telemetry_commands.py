"""`mosaic telemetry`, which reads the store and needs no daemon."""

from typing import Any

import pytest

from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def without_daemon(shared_mosaic: Mosaic) -> Mosaic:
    """A home with one run of 500 steps and two invalid lines, without a running daemon."""
    shared_mosaic.train("--set", "steps=500", "--set", "garbage_every=200", "--name", "stored")
    shared_mosaic.ok("daemon", "stop")
    return shared_mosaic


def read(mosaic: Mosaic, *arguments: str) -> Any:
    return mosaic.json("telemetry", "last", *arguments)


def test_stats(without_daemon: Mosaic) -> None:
    """At least the documented fields."""
    stats = read(without_daemon, "stats")
    assert (stats["steps"], stats["episodes"], stats["rejects"]) == (500, 5, 2)
    assert stats["spool_bytes"] == stats["committed_bytes"] > 0
    assert stats["metrics"] > 0
    assert "500" in without_daemon.ok("telemetry", "stored", "stats")


def test_steps_of_an_episode(without_daemon: Mosaic) -> None:
    """Starting at a step, with a maximum count."""
    arguments = ("steps", "--episode", "2", "--from", "10", "--count", "3")
    steps = read(without_daemon, *arguments)["steps"]
    assert [step["step"] for step in steps] == [10, 11, 12]
    assert {step["episode_id"] for step in steps} == {"ep2"}
    assert "ep2" in without_daemon.ok("telemetry", "last", *arguments)


def test_steps_in_order_of_arrival(without_daemon: Mosaic) -> None:
    """Without --episode, across all episodes."""
    steps = read(without_daemon, "steps", "--from", "99", "--count", "2")["steps"]
    assert [(step["episode_id"], step["step"]) for step in steps] == [("ep0", 99), ("ep1", 0)]


def test_episodes_metrics_and_rejects(without_daemon: Mosaic) -> None:
    """As JSON and as tables."""
    episodes = read(without_daemon, "episodes", "--from", "3")["episodes"]
    assert [episode["episode"] for episode in episodes] == [3, 4]
    assert "RETURN" in without_daemon.ok("telemetry", "last", "episodes")
    series = read(without_daemon, "metrics")["series"]
    assert {"name": "episode_return", "agent_id": None, "points": 5} in series
    curve = read(without_daemon, "metrics", "episode_return", "--count", "3")
    assert len(curve["x"]) == len(curve["y"]) <= 3
    assert curve["points"] == 5
    assert "VALUE" in without_daemon.ok("telemetry", "last", "metrics", "episode_return")
    rejects = read(without_daemon, "rejects")["rejects"]
    assert [reject["kind"] for reject in rejects] == ["not_utf8", "not_json"]
    assert "not_json" in without_daemon.ok("telemetry", "last", "rejects", "--from", "1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("last", "steps", "--episode", "99"), "no episode 99"),
        (("last", "metrics", "absent"), "no metric 'absent'"),
        (("NOSUCHRUN", "stats"), "NOSUCHRUN"),
    ],
)
def test_unknown_items_are_reported(
    without_daemon: Mosaic, arguments: tuple[str, ...], message: str
) -> None:
    """Exit code 1, and the command that lists them."""
    done = without_daemon("telemetry", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "`mosaic" in done.stderr
