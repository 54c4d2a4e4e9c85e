"""`mosaic play`: a person on a terminal, agents without one, and the results."""

import json
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import pytest

from mosaic.cli.terminal.session import _stop
from mosaic.client import TrainerClient
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.envs.scenes.factory import scene_for
from tests.cli.play.screen import Screen
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

_RIGHT, _DOWN = "\x1b[C", "\x1b[B"


@pytest.fixture(scope="module")
def player(
    tmp_path_factory: pytest.TempPathFactory, give_session_bundle: Callable[[Home], None]
) -> Iterator[Mosaic]:
    """A home whose daemon has the environments installed."""
    made = Mosaic(tmp_path_factory.mktemp("player"))
    give_session_bundle(made.home)
    try:
        made.ok("daemon", "start")
        yield made
    finally:
        made.clean_up()


def sit_down(mosaic: Mosaic, *arguments: str, **options: Any) -> Screen:
    """`mosaic play` on a terminal."""
    environment = {name: each for name, each in mosaic.environment.items() if name != "COLUMNS"}
    return Screen(mosaic.command("play", *arguments), environment, mosaic.folder, **options)


def shows(screen: Screen, row: str) -> Callable[[], bool]:
    """Return whether the screen has such a row of cells."""
    return lambda: f"│{row}│" in screen.frame


def test_a_person_plays_frozen_lake(player: Mosaic) -> None:
    """From start to goal, with the result, the next episode, and a final table."""
    screen = sit_down(player, "FrozenLake-v1", "--env-arg", "is_slippery=false", "--seed", "1")
    screen.read_until(shows(screen, " @  ·  ·  · "))
    assert "move left" in screen.frame
    assert "hole: episode ends" in screen.frame
    assert "episode 0  step 0" in screen.frame
    for key, row in (
        (_DOWN, " ▼  ○  ·  ○ "),
        ("s", " ▼  ·  ·  ○ "),
        (_RIGHT, " ·  ►  ·  ○ "),
        ("d", " ·  ·  ►  ○ "),
        (_DOWN, " ○  ·  ▼  ★ "),
        (_RIGHT, " ○  ·  ·  ► "),
    ):
        screen.type(key)
        screen.read_until(shows(screen, row))
    screen.read_until("Episode finished: return 1 in 6 steps.")
    screen.type("n")
    screen.read_until(shows(screen, " @  ·  ·  · "))
    assert "episode 1  step 0  return 0" in screen.frame
    screen.type(_RIGHT)
    screen.read_until(shows(screen, " S  ►  ·  · "))
    screen.type("q")
    assert screen.end() == 0, screen.tail
    rows = [line.split() for line in screen.afterwards.splitlines()]
    assert ["0", "6", "1", "terminated", "human"] in rows
    assert ["1", "1", "0", "unfinished", "human"] in rows
    run = player.json("runs", "show", "last")
    assert (run["state"], run["mode"], run["worker"]) == ("cancelled", "play", "session_worker")
    assert run["digest"]["steps"] == 7


def test_the_first_observation_is_that_of_the_episode_start(player: Mosaic) -> None:
    """In an environment with random starts, the seed gives the same one."""
    observation, _ = gymnasium.make("Taxi-v4").reset(seed=11)
    scene = scene_for("Taxi-v4", {}, int(observation))
    assert scene is not None
    screen = sit_down(player, "Taxi-v4", "--seed", "11")
    screen.read_until(scene.caption)
    screen.type("?")
    screen.read_until("Press any key to return.")
    assert "Rewards:" in screen.frame
    screen.type("x")
    screen.read_until(scene.caption)
    screen.type("q")  # drops off where there is no passenger, and does not quit
    screen.read_until("return -10")
    screen.type("\x1b")
    assert screen.end() == 0, screen.tail


def test_a_grid_and_cards_come_from_the_step(player: Mosaic) -> None:
    """MiniGrid's walls and Blackjack's hands, which are not in the observation."""
    screen = sit_down(player, "MiniGrid-Empty-5x5-v0", size=(50, 20))
    screen.read_until(shows(screen, "███ ►  ·  · ███"))
    assert "get to the green goal square" in screen.frame
    screen.type("\x1b[A")
    screen.read_until(shows(screen, "███ ·  ►  · ███"))
    screen.resize(24, 12)
    screen.read_until(lambda: "goal \nsquare" in screen.frame)
    assert shows(screen, "███ ·  ►  · ███")()
    screen.type("\x1b")
    assert screen.end() == 0, screen.tail
    table = sit_down(player, "Blackjack-v1", "--seed", "3", "--episodes", "1")
    table.read_until(" ? ")
    table.type("s")
    assert table.end() == 0, table.tail
    assert player.json("runs", "show", "last")["state"] == "succeeded"


def test_takeover_and_release(player: Mosaic) -> None:
    """In the middle of an episode; the table lists the steps of each actor."""
    result = player.folder / "taken.json"
    command = player.command(
        "play", "CliffWalking-v1", "--actor", "random", "--watch", "--speed", "2", "--json"
    )
    shell = ["sh", "-c", f"exec {shlex.join(command)} > {shlex.quote(str(result))}"]
    screen = Screen(shell, player.environment, player.folder)
    screen.read_until("actor random")
    screen.read_until(lambda: "step 0" not in screen.frame and "  step " in screen.frame)
    screen.type("\x1b[A")
    screen.read_until("random is in control; press T to take over.")
    screen.type("t")
    screen.read_until("actor you")
    screen.type("p")
    screen.read_until("2x, paused")
    screen.type("p")
    screen.read_until(lambda: "2x, paused" not in screen.frame)
    before = steps_on(screen)
    screen.type("\x1b[A")
    screen.read_until(lambda: steps_on(screen) == before + 1)
    screen.type("t+")
    screen.read_until(lambda: "actor random" in screen.frame and "4x" in screen.frame)
    screen.read_until(lambda: steps_on(screen) > before + 1)
    screen.type("q")
    assert screen.end() == 0, screen.tail
    document = json.loads(result.read_text())
    assert document["episodes"][0]["actors"]["human"] == 1
    assert document["episodes"][0]["actors"]["random"] > 1
    assert document["state"] == "cancelled"


def steps_on(screen: Screen) -> int:
    """Return the number of steps in the header of the screen."""
    return int(screen.frame.partition("  step ")[2].split()[0])


def test_ctrl_c_stops_the_session(player: Mosaic) -> None:
    """With exit code 130, and the run is stopped."""
    screen = sit_down(player, "CliffWalking-v1")
    screen.read_until("step 0")
    screen.type("\x03")
    assert screen.end() == 130, screen.tail
    assert player.json("runs", "show", "last")["state"] == "cancelled"


def test_stop_before_the_session_has_started(player: Mosaic) -> None:
    """A session that is just starting is stopped, and does not wait for its lease."""
    with TrainerClient.connect(player.home) as client:
        controller = SessionController(client)
        controller.start(SessionRequest(env_id="FrozenLake-v1", frames=False))
        state = _stop(controller)
        assert client.run(state.run_id).run.state is RunState.CANCELLED


def test_a_closed_terminal_stops_the_session(player: Mosaic) -> None:
    """The run is stopped when the terminal is closed."""
    screen = sit_down(player, "CliffWalking-v1")
    screen.read_until("step 0")
    os.kill(screen.pid, signal.SIGHUP)
    assert screen.end() == 128 + signal.SIGHUP
    assert player.json("runs", "show", "last")["state"] == "cancelled"


def test_an_agent_prints_a_table_of_episodes(player: Mosaic) -> None:
    """The given number of episodes, equal for the same seed."""
    ask = ("play", "FrozenLake-v1", "--actor", "random", "--episodes", "4", "--seed", "5")
    first = player.json(*ask)
    assert (first["state"], first["exit_code"]) == ("succeeded", 0)
    assert first["reason"]
    assert (
        len(first["episodes"]) == first["digest"]["episodes"] == first["summary"]["episodes"] == 4
    )
    assert {episode["end"] for episode in first["episodes"]} == {"terminated"}
    assert all(episode["actors"] == {"random": episode["steps"]} for episode in first["episodes"])
    returns = [episode["return"] for episode in first["episodes"]]
    assert first["summary"]["returns"]["mean"] == pytest.approx(sum(returns) / 4)
    done = player(*ask)
    assert done.returncode == 0
    assert f"Run {player.json('runs', 'show', 'last')['run_id']}" in done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    for episode in first["episodes"]:
        row = [str(episode["episode"]), str(episode["steps"]), f"{episode['return']:.4g}"]
        assert [*row, "terminated", "random"] in rows
    assert "4 episodes completed" in done.stdout


def test_an_image_environment_runs_without_rendering(player: Mosaic) -> None:
    """A step limit ends it."""
    result = player.json("play", "CartPole-v1", "--actor", "random", "--max-steps", "50")
    assert (result["state"], result["digest"]["steps"]) == ("succeeded", 50)


def test_a_relative_script_path_is_resolved(player: Mosaic) -> None:
    """Although a run has its own working directory."""
    file = player.folder / "walker.py"
    file.write_text(
        "class Down:\n    def __init__(self, env): ...\n    def act(self, o, i): return 1\n"
    )
    ask = ("play", "FrozenLake-v1", "--episodes", "1", "--env-arg", "is_slippery=false")
    result = player.json(*ask, "--actor", "scripted:walker.py:Down")
    assert [episode["steps"] for episode in result["episodes"]] == [3]


def test_an_environment_that_cannot_be_created_fails_with_a_reason(player: Mosaic) -> None:
    """Exit code 1 and a remedy."""
    done = player("play", "NoSuchWorld-v0", "--actor", "random", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert (result["state"], result["episodes"]) == ("failed", [])
    assert "NoSuchWorld-v0" in result["reason"]
    assert result["remedy"]


def test_an_agent_can_be_detached(player: Mosaic) -> None:
    """A session can be listed and watched like any run."""
    ask = ("play", "FrozenLake-v1", "--actor", "random", "--episodes", "2", "--name", "mine")
    started = player.json(*ask, "--detach")
    watched = player.json("runs", "watch", started["run_id"])
    assert (watched["state"], watched["name"]) == ("succeeded", "mine")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "expected"),
    [
        (["FrozenLake-v1"], 1, "--actor random"),
        (["CartPole-v1"], 1, "cannot be displayed in a terminal"),
        (["FrozenLak-v1"], 2, "Did you mean 'FrozenLake-v1'"),
        (["FrozenLake-v1", "--seed", "many"], 2, "--seed"),
        (["FrozenLake-v1", "--env-arg", "is_slipery=no"], 2, "Did you mean `is_slippery`"),
        (["FrozenLake-v1", "--env-arg", "desc=SHG"], 2, "no path"),
        (["FrozenLake-v1", "--detach"], 2, "--actor"),
    ],
)
def test_usage_errors_start_nothing(
    mosaic: Mosaic, arguments: list[str], exit_code: int, expected: str
) -> None:
    """With an alternative; no daemon is started."""
    done = mosaic("play", *arguments)
    assert (done.returncode, done.stdout) == (exit_code, "")
    assert expected in done.stderr
    assert not mosaic.home.path.exists()


def test_unknown_actor(player: Mosaic) -> None:
    """The error for an unknown actor lists the known ones."""
    done = player("play", "FrozenLake-v1", "--actor", "nobody")
    assert done.returncode == 1
    assert "random" in done.stderr
