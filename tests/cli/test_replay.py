"""`mosaic replay`: show, verify and export an episode."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.replay.recorded_worker import (
    CHANGED_STEP,
    ENV_ID,
    WORKER,
    install_recorded_worker,
    lines,
)
from tests.support.mosaic_cli import DEADLINE_S, Mosaic

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    """A home whose newest run, `played`, has episodes of CartPole."""
    made = Mosaic(tmp_path_factory.mktemp("recorded"))
    install_recorded_worker(made.folder / "workers", made.home.settings)
    try:
        made.ok("daemon", "start")
        made.ok("train", WORKER, "--env", ENV_ID, "--name", "played")
        yield made
    finally:
        made.clean_up()


def lines_of(kind: str, episode: int) -> list[dict[str, Any]]:
    """The lines of the worker about an episode."""
    return [
        line for line in lines() if line["type"] == kind and line["episode_id"] == f"e{episode}"
    ]


def steps_of(episode: int) -> int:
    return int(lines_of("episode", episode)[0]["steps"])


def test_show_episode(recorded: Mosaic) -> None:
    """Environment, start, length, return, and that it can be replayed."""
    printed = recorded.json("replay", "last", "0")
    assert (printed["env_id"], printed["seed"], printed["steps"]) == (ENV_ID, 0, steps_of(0))
    assert (printed["total_return"], printed["terminated"]) == (float(steps_of(0)), True)
    assert (printed["replayable"], printed["not_replayable"], printed["install"]) == (True, "", "")
    printed = recorded.ok("replay", "played", "0")
    assert ENV_ID in printed
    assert "seed 0" in printed
    assert "terminated" in printed


def test_an_episode_that_cannot_be_replayed(recorded: Mosaic) -> None:
    """The reason is printed; its lines can still be exported."""
    printed = recorded.json("replay", "last", "2")
    assert not printed["replayable"]
    assert printed["not_replayable"]
    assert f"no: {printed['not_replayable']}" in recorded.ok("replay", "last", "2")
    done = recorded("replay", "last", "2", "--verify", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert (document["identical"], document["first_difference"]) == (False, None)
    assert printed["not_replayable"] in document["error"]
    recorded.ok("replay", "last", "2", "--jsonl", "two.jsonl")


def test_last_and_best(recorded: Mosaic) -> None:
    """The newest episode, and the one with the highest return."""
    best = max(range(4), key=steps_of)
    assert recorded.json("replay", "last", "last")["episode"] == 3
    # Episode 1 says that one of its rewards was larger.
    returns = [recorded.json("replay", "last", str(k))["total_return"] for k in range(4)]
    assert recorded.json("replay", "last", "best")["episode"] == returns.index(max(returns))
    assert returns[best] >= steps_of(best)


def test_verify_identical(recorded: Mosaic) -> None:
    """Exit code 0 and the documented fields."""
    document = recorded.json("replay", "last", "0", "--verify")
    assert document["identical"] is True
    assert document["steps"] == steps_of(0)
    assert document["first_difference"] is None
    assert "Identical" in recorded.ok("replay", "last", "3", "--verify")


def test_verify_different(recorded: Mosaic) -> None:
    """Exit code 1 and the first different step."""
    done = recorded("replay", "last", "1", "--verify", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["identical"], document["first_difference"]) == (False, CHANGED_STEP)
    done = recorded("replay", "last", "1", "--verify")
    assert done.returncode == 1
    assert done.stdout.startswith(f"Different at step {CHANGED_STEP}: reward 7.0 in the record")


def test_files(recorded: Mosaic) -> None:
    """MP4, GIF and JSONL, with a range, captions and another speed."""
    film = recorded.json("replay", "last", "0", "--mp4", "whole.mp4")
    assert film["frames"] == steps_of(0) + 1
    assert film["bytes"] == (recorded.folder / "whole.mp4").stat().st_size
    arguments = ("--from", "2", "--to", "4", "--overlay", "--speed", "0.5", "--fps", "20")
    assert "4 frames, 0.4 s" in recorded.ok("replay", "last", "0", "--gif", "part.gif", *arguments)
    with Image.open(recorded.folder / "part.gif") as image:
        assert (getattr(image, "n_frames", 1), image.info["duration"]) == (4, 100)
        assert image.height > 400
    written = recorded.json("replay", "last", "0", "--jsonl", "lines.jsonl", "--to", "4")
    assert written["lines"] == 2 + 5
    found = [
        json.loads(line) for line in (recorded.folder / "lines.jsonl").read_text().splitlines()
    ]
    assert found[2:] == lines_of("step", 0)[:5]


def test_verify_and_export_at_once(recorded: Mosaic) -> None:
    """One document contains both results."""
    document = recorded.json("replay", "last", "0", "--verify", "--gif", "both.gif")
    assert document["identical"] is True
    assert document["file"] == "both.gif"


def test_an_export_with_a_difference_warns(recorded: Mosaic) -> None:
    """The file is written, and a warning names the first different step."""
    done = recorded("replay", "last", "1", "--gif", "differs.gif")
    assert done.returncode == 0
    assert f"From step {CHANGED_STEP}" in done.stderr


def test_an_existing_file_is_not_overwritten(recorded: Mosaic) -> None:
    """Except with --force."""
    target = recorded.folder / "precious.gif"
    target.write_text("precious")
    done = recorded("replay", "last", "0", "--gif", str(target))
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert target.read_text() == "precious"
    recorded.ok("replay", "last", "0", "--gif", str(target), "--force")
    assert target.read_bytes()[:3] == b"GIF"


def test_a_terminal_asks_before_overwriting(recorded: Mosaic) -> None:
    """The answer decides."""
    target = recorded.folder / "asked.jsonl"
    target.write_text("precious")
    for answer, is_replaced in ((b"n\n", False), (b"y\n", True)):
        keyboard, terminal = os.openpty()
        os.write(keyboard, answer)
        done = subprocess.run(
            recorded.command("replay", "last", "0", "--jsonl", str(target)),
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
            env=recorded.environment,
        )
        os.close(keyboard)
        os.close(terminal)
        assert "Overwrite" in done.stderr
        assert (done.returncode == 0) == is_replaced
        assert (target.read_text() != "precious") == is_replaced


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("last", "99"), 1, "99"),
        (("last", "first"), 2, "`best`"),
        (("last", "-1"), 2, "-1"),
        (("nosuchrun", "0"), 1, "nosuchrun"),
        (("last", "0", "--mp4", "a.mp4", "--gif", "a.gif"), 2, "only one of"),
        (("last", "0", "--mp4", "a.gif"), 2, "another format"),
        (("last", "0", "--jsonl", "a.MP4"), 2, "Use the suffix .jsonl"),
        (("last", "0", "--overlay"), 2, "--mp4"),
        (("last", "0", "--jsonl", "a.jsonl", "--fps", "3"), 2, "--fps"),
        (("last", "0", "--from", "3"), 2, "--from"),
        (("last", "0", "--mp4", "missing/a.mp4"), 1, "missing"),
        (("last", "0", "--mp4", "a.mp4", "--from", "9999"), 1, "9999"),
    ],
)
def test_usage_errors(
    recorded: Mosaic, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    """An error is printed, and no file is written."""
    done = recorded("replay", *arguments)
    assert done.returncode == code, done.stderr
    assert expected in done.stderr
    assert not list(recorded.folder.glob("a.*"))


def test_without_a_daemon(tmp_path: Path) -> None:
    """Showing an episode does not start one."""
    done = Mosaic(tmp_path)("replay", "last", "0")
    assert done.returncode == 3


def test_missing_bundle(mosaic: Mosaic) -> None:
    """The install command is printed; --install runs it."""
    install_recorded_worker(mosaic.folder / "workers", mosaic.home.settings, bundle="echo_worker")
    mosaic.ok("daemon", "start")
    mosaic.ok("train", WORKER, "--env", ENV_ID)
    assert mosaic.json("replay", "last", "0")["install"] == ""
    for folder in mosaic.home.venvs.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    command = "mosaic bundles install echo_worker"
    assert mosaic.json("replay", "last", "0")["install"] == command
    assert command in mosaic.ok("replay", "last", "0")
    done = mosaic("replay", "last", "0", "--mp4", "a.mp4")
    assert done.returncode == 1
    assert command in done.stderr
    verified = mosaic("replay", "last", "0", "--verify", "--no-install", "--json")
    assert json.loads(verified.stdout)["code"] == "T411"
    installed = mosaic("replay", "last", "0", "--verify", "--install", "--json")
    # The echo worker's bundle is there again; that it has no environments is another matter.
    assert json.loads(installed.stdout)["code"] != "T411"
    assert any(mosaic.home.venvs.iterdir())
