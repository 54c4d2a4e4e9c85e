"""`mosaic runs`: list, inspect, control and export runs."""

import json
from typing import Any

import pytest

from mosaic.analytics.event_files import read_scalars
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

_LONG = ("--detach", "--set", "steps=1000000", "--set", "rate=200")


@pytest.fixture(scope="module")
def finished(shared_mosaic: Mosaic) -> str:
    """The id of a finished run."""
    result = shared_mosaic.train("--set", "steps=300", "--name", "finished", "--tag", "keep")
    run_id: str = result["run_id"]
    return run_id


def wait_until_running(mosaic: Mosaic, run_id: str) -> None:
    while mosaic.json("runs", "show", run_id)["state"] in ("queued", "preparing"):
        pass


def test_an_empty_list_prints_a_hint(mosaic: Mosaic) -> None:
    """It names a command to start with."""
    mosaic.ok("daemon", "start")
    done = mosaic("runs", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "mosaic train echo_worker" in done.stderr
    assert mosaic.json("runs", "list") == {"runs": [], "total": 0}


def test_the_list_fits_80_columns(shared_mosaic: Mosaic, finished: str) -> None:
    """With id, name, algorithm, environment, state and numbers."""
    printed = shared_mosaic.ok("runs", "list", "--text", "finished")
    assert all(len(line) <= 80 for line in printed.splitlines())
    for text in (finished[-8:], "finished", "echo", "Echo-v0", "succeeded", "300"):
        assert text in printed


def test_filters_choose_runs(shared_mosaic: Mosaic, finished: str) -> None:
    """By state, worker, algorithm, environment, tag and text; a message if none matches."""

    def listed(*arguments: str) -> list[str]:
        document = shared_mosaic.json("runs", "list", *arguments)
        return [run["run_id"] for run in document["runs"]]

    all_of_these = ("--state", "succeeded", "--worker", "echo_worker", "--algo", "echo")
    assert finished in listed(*all_of_these, "--env", "Echo-v0", "--tag", "keep")
    assert finished not in listed("--state", "running", "--state", "queued")
    assert finished not in listed("--tag", "other")
    assert "No run matches" in shared_mosaic("runs", "list", "--env", "Other-v0").stderr


def test_tag_note_rename_and_archive(shared_mosaic: Mosaic) -> None:
    """The changes are stored, and an archived run is listed only with --all."""
    run_id = shared_mosaic.train("--set", "steps=10")["run_id"]
    assert "tags: x, y" in shared_mosaic.ok("runs", "tag", run_id, "x", "y")
    assert shared_mosaic.json("runs", "tag", run_id, "--remove", "x")["tags"] == ["y"]
    assert "note: look here" in shared_mosaic.ok("runs", "note", run_id, "look", "here")
    assert shared_mosaic.json("runs", "note", run_id, "")["note"] == ""
    shared_mosaic.ok("runs", "rename", run_id, "other name")
    assert shared_mosaic.json("runs", "show", "other name")["run_id"] == run_id
    shared_mosaic.ok("runs", "archive", run_id)
    assert run_id not in shared_mosaic.ok("runs", "list", "--json")
    assert run_id in shared_mosaic.ok("runs", "list", "--all", "--json")
    shared_mosaic.ok("runs", "archive", run_id, "--undo")
    assert run_id in shared_mosaic.ok("runs", "list", "--json")


def test_show_prints_everything(shared_mosaic: Mosaic, finished: str) -> None:
    """As text and JSON: configuration, command, environment, history, artifacts."""
    printed = shared_mosaic.ok("runs", "show", finished)
    for text in (
        finished,
        "succeeded",
        "Finished.",
        "Configuration",
        "Command",
        "-m echo_worker --config",
        "Environment",
        "History",
        "Artifacts",
        "checkpoints/",
    ):
        assert text in printed
    document = shared_mosaic.json("runs", "show", finished)
    assert {"run_id", "state", "exit_code", "reason", "digest"} <= set(document)
    assert document["config"]["params"] == {"steps": 300}
    assert document["resolved"]["args"]["steps"] == 300
    assert [change["state"] for change in document["history"]][-1] == "succeeded"
    assert document["manifest"]["checkpoints"]


def test_pause_resume_and_stop(shared_mosaic: Mosaic) -> None:
    """Each prints the new state; stop waits until the run ends."""
    run_id = shared_mosaic.train(*_LONG)["run_id"]
    wait_until_running(shared_mosaic, run_id)
    assert "paused" in shared_mosaic.ok("runs", "pause", run_id[-8:])
    again = shared_mosaic("runs", "pause", run_id)
    assert again.returncode == 1
    assert f"Run {run_id[-8:]} is already paused." in again.stderr
    assert shared_mosaic.json("runs", "resume", run_id)["runs"][0]["state"] == "running"
    printed = shared_mosaic.ok("runs", "stop", run_id, "--reason", "seen enough")
    assert "cancelled: seen enough" in printed
    assert "cancelled" in shared_mosaic.ok("runs", "stop", run_id)
    assert "is cancelled and cannot become" in shared_mosaic("runs", "pause", run_id).stderr


def test_several_runs_stop_at_once(mosaic: Mosaic) -> None:
    """The given ones, or all."""
    ids = [mosaic.train(*_LONG)["run_id"] for _ in range(3)]
    named = mosaic.json("runs", "stop", *ids[:2], "--grace", "1")
    assert {run["run_id"] for run in named["runs"]} == set(ids[:2])
    rest = mosaic.json("runs", "stop", "--all", "--grace", "1")
    assert [run["run_id"] for run in rest["runs"]] == ids[2:]
    assert "No run" in mosaic("runs", "stop", "--all").stderr


def test_logs_show_what_the_worker_printed(shared_mosaic: Mosaic) -> None:
    """All lines, the last lines, and JSON."""
    run_id = shared_mosaic.train("--set", "steps=10")["run_id"]
    shared_mosaic.home.run(run_id).worker_log.write_text("one\ntwo\nthree\n")
    assert shared_mosaic.ok("runs", "logs", run_id) == "one\ntwo\nthree\n"
    assert shared_mosaic.ok("runs", "logs", run_id, "--tail", "1") == "three\n"
    assert shared_mosaic.json("runs", "logs", run_id)["lines"] == ["one", "two", "three"]
    followed = shared_mosaic.ok("runs", "logs", run_id, "--follow", "--json").splitlines()
    assert [json.loads(line)["line"] for line in followed] == ["one", "two", "three"]


def test_export_and_import(mosaic: Mosaic) -> None:
    """An imported run is equal to the exported one, including its telemetry."""
    run_id = mosaic.train("--set", "steps=100")["run_id"]
    exported = mosaic.json("runs", "export", run_id)
    assert (mosaic.folder / exported["file"]).stat().st_size == exported["bytes"]
    again = mosaic("runs", "export", run_id)
    assert again.returncode == 2
    assert "--force" in again.stderr
    done = mosaic("runs", "delete", run_id, stdin="n\n")
    assert done.returncode == 130
    assert mosaic("runs", "delete", run_id, stdin="y\n").returncode == 0
    assert mosaic.json("runs", "list")["total"] == 0
    imported: Any = mosaic.json("runs", "import", exported["file"])
    assert (imported["run_id"], imported["state"]) == (run_id, "succeeded")
    assert mosaic.json("telemetry", "last", "stats")["steps"] == 100
    assert mosaic.json("runs", "delete", "last", "--yes")["deleted"] == [run_id]


def test_export_to_tensorboard(shared_mosaic: Mosaic) -> None:
    """The event file has its metrics and episodes."""
    run_id = shared_mosaic.train("--set", "steps=100")["run_id"]
    export = shared_mosaic.json("runs", "export", run_id, "--tensorboard", "board")
    curves = read_scalars(shared_mosaic.folder / "board")
    assert sum(map(len, curves.values())) == export["points"] > 0
    assert len(curves) == export["tags"]
    assert len(curves["episodes/return"]) == len(curves["episodes/length"]) > 0
    assert sum(curves["episodes/length"].values) <= 100
    assert shared_mosaic("runs", "export", run_id, "x.gz", "--tensorboard", "y").returncode == 2


def test_an_unfinished_run_is_not_deleted(shared_mosaic: Mosaic) -> None:
    """The error has a remedy."""
    run_id = shared_mosaic.train(*_LONG)["run_id"]
    done = shared_mosaic("runs", "delete", run_id, "--yes")
    assert done.returncode == 1
    assert "stop" in done.stderr
    shared_mosaic.ok("runs", "stop", run_id, "--grace", "0")


def test_unknown_run(shared_mosaic: Mosaic) -> None:
    """Exit code 1, and the command that lists runs."""
    done = shared_mosaic("runs", "show", "NOSUCHRUN")
    assert done.returncode == 1
    assert "mosaic runs list" in done.stderr
