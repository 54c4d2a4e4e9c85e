"""`mosaic workers new`: the created worker works, and nothing is overwritten."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from mosaic.cli.main import mosaic as root
from mosaic.cli.worker_skeleton import FIRST_RUNS, TEMPLATES, write_skeleton
from mosaic.contract.layout import Home
from mosaic.contract.worker_manifest import read_worker_manifest
from mosaic.trainer.workers.found_worker import sdk_sources
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS
from tests.support.daemon import eventually
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

EVERY_TEMPLATE = pytest.mark.parametrize("template", TEMPLATES)
GiveBundles = Callable[..., None]


@pytest.fixture
def mosaic(tmp_path: Path) -> Iterator[Mosaic]:
    made = Mosaic(tmp_path)
    try:
        yield made
    finally:
        made.clean_up()


def settings_of(mosaic: Mosaic) -> dict[str, object]:
    return tomllib.loads(mosaic.home.settings.read_text())


@EVERY_TEMPLATE
def test_the_worker_is_found_and_described(mosaic: Mosaic, template: str) -> None:
    """With its own name everywhere, before its packages are installed."""
    made = mosaic.json("workers", "new", "lake_tamer", "--template", template)
    folder = mosaic.folder / "lake_tamer"
    assert (made["folder"], made["found"]) == (str(folder), True)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == set(made["files"])
    assert {"worker.toml", "pyproject.toml", "README.md", "requirements.txt"} <= files
    assert {"src/lake_tamer/__main__.py", "tests/test_lake_tamer.py"} <= files
    text = "".join((folder / file).read_text() for file in files)
    assert not re.search("my.?worker", text, re.IGNORECASE)
    assert read_worker_manifest(folder / "worker.toml").label == "Lake Tamer"
    mosaic.ok("daemon", "start")
    printed = mosaic.json("workers", "lake_tamer")
    assert (printed["problem"], printed["ready"]) == ("", False)
    assert printed["descriptor"]["modes"] == ["train", "play", "evaluate"]


@EVERY_TEMPLATE
def test_dry_run(tmp_path: Path, template: str) -> None:
    """With only the standard library and the SDK."""
    write_skeleton(tmp_path / "planner", "planner", template, "mosaic-worker")
    algo = WorkerCatalog((tmp_path,), search_path=()).describe("planner").algorithms[0].id
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"algo": algo, "env_id": "CartPole-v1", "seed": 7}))
    path = os.pathsep.join([str(tmp_path / "planner" / "src"), str(sdk_sources().path.parent)])
    done = subprocess.run(
        [sys.executable, "-m", "planner", "--config", str(config), "--dry-run"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
    )
    assert "env_id = CartPole-v1" in done.stdout


@EVERY_TEMPLATE
def test_the_printed_commands_work_unchanged(mosaic: Mosaic, template: str) -> None:
    """The printed commands and those in its README that need no packages."""
    done = mosaic("workers", "new", "tried", "--template", template)
    train = re.search("`mosaic (train tried [^`]+)`", done.stderr)
    assert train is not None
    readme = (mosaic.folder / "tried" / "README.md").read_text()
    assert f"\nmosaic {train[1]}\n" in readme
    mosaic.ok("daemon", "start")
    mosaic.ok("workers", "tried")
    mosaic.ok(*train[1].split(), "--preflight")


def test_the_command_in_the_documentation_is_current() -> None:
    """The page uses the options of the template."""
    page = (CHECKOUT_WORKERS.parent / "docs" / "writing-a-worker.md").read_text()
    made = re.search(r"mosaic workers new (\w+) --template (\w+)\n", page)
    assert made is not None
    assert f"mosaic train {made[1]} {FIRST_RUNS[made[2]]}\n" in page


def test_a_checkout_in_a_folder_with_a_space_is_installed(
    mosaic: Mosaic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path in the README is quoted for the shell."""
    sdk = mosaic.folder / "my work" / "worker_sdk"
    package = sdk / "src" / "mosaic_worker"
    package.mkdir(parents=True)
    (sdk / "pyproject.toml").touch()
    sources = sdk_sources()._replace(path=package)
    monkeypatch.setattr("mosaic.cli.workers.sdk_sources", lambda: sources)
    mosaic.ok("workers", "new", "mine")
    readme = (mosaic.folder / "mine" / "README.md").read_text()
    (line,) = [line for line in readme.splitlines() if line.startswith("venv/bin/pip install")]
    assert shlex.split(line)[-4:] == ["-e", str(sdk), "-e", "."]


@EVERY_TEMPLATE
def test_the_code_passes_the_linter(tmp_path: Path, template: str) -> None:
    """Neither the linter nor the formatter reports anything."""
    folder = tmp_path / "my_worker"
    write_skeleton(folder, "my_worker", template, "mosaic-worker")
    ruff = [sys.executable, "-m", "ruff"]
    style = ["--isolated", "--no-cache", "--config", "line-length = 100"]
    rules = ["--select", "E,F,I,B,UP,SIM,N,ANN", "--ignore", "ANN401", "--config", "src = ['src']"]
    for command in (["check", *rules], ["format", "--check"]):
        done = subprocess.run(
            [*ruff, *command, *style, "."], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


@EVERY_TEMPLATE
def test_every_package_is_pinned(tmp_path: Path, template: str) -> None:
    """All requirements are pinned; torch has the version of the checkout."""
    write_skeleton(tmp_path / "pinned", "pinned", template, "mosaic-worker")
    requested, pins = (
        [line for line in (tmp_path / "pinned" / name).read_text().splitlines() if line]
        for name in ("requirements.in", "requirements.txt")
    )
    pinned = dict(re.split("==|[ ]+#", line)[:2] for line in pins if not line.startswith("#"))
    names = {re.split(r"[\[=# ]", line)[0] for line in requested if not line.startswith("#")}
    assert names <= pinned.keys()
    assert pinned.get("torch", "").strip() == ("" if template == "plain" else "2.13.0")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Lake-Worker", "Try lake_worker."),
        ("2fast", "Try my_worker."),
        ("../elsewhere", "Try elsewhere."),
        ("import", "Try import_worker."),
        ("json", "Try json_worker."),
        ("numpy", "Try numpy_worker."),
        ("mosaic_worker", "Try mosaic_worker_worker."),
        ("echo_worker", "Choose another name."),
    ],
)
def test_an_invalid_name_is_rejected(mosaic: Mosaic, name: str, expected: str) -> None:
    """With a suggestion, and nothing is written."""
    done = mosaic("workers", "new", name)
    assert done.returncode == 2
    assert expected in done.stderr
    assert not list(mosaic.folder.iterdir())


def test_nothing_is_overwritten(mosaic: Mosaic) -> None:
    """Neither a worker nor another folder or file of that name."""
    (mosaic.folder / "mine").mkdir()
    (mosaic.folder / "mine" / "thesis.txt").write_text("years of work")
    done = mosaic("workers", "new", "mine")
    assert (done.returncode, "--into" in done.stderr) == (2, True)
    assert [path.name for path in (mosaic.folder / "mine").iterdir()] == ["thesis.txt"]
    mosaic.ok("workers", "new", "first")
    done = mosaic("workers", "new", "inner", "--into", "first")
    assert (done.returncode, "is a worker, and workers cannot be nested" in done.stderr) == (
        2,
        True,
    )


def test_an_unwritable_folder_stays_empty(mosaic: Mosaic) -> None:
    """The error has the reason."""
    (mosaic.folder / "file").write_text("")
    done = mosaic("workers", "new", "mine", "--into", "file/inside")
    assert (done.returncode, "is not writable" in done.stderr) == (1, True)
    assert [path.name for path in mosaic.folder.iterdir()] == ["file"]


def test_existing_settings_are_preserved(mosaic: Mosaic) -> None:
    """The folder is added to the existing ones, and the next worker is created there."""
    workers = mosaic.folder / "workers"
    workers.mkdir()
    mosaic.home.trainer.mkdir(parents=True, mode=0o700)
    own = f"# mine\nport = 0\nworker_folders = [\n  {json.dumps(str(workers))},  # old ones\n]\n"
    mosaic.home.settings.write_text(own)
    made = mosaic.json("workers", "new", "one")
    assert made["folder"] == str(workers / "one")
    assert mosaic.home.settings.read_text() == own
    made = mosaic.json("workers", "new", "two", "--into", "more")
    assert made["setting_changed"] == str(mosaic.home.settings)
    more = str(mosaic.folder / "more")
    assert settings_of(mosaic) == {"port": 0, "worker_folders": [more, str(workers)]}
    assert "# mine" in mosaic.home.settings.read_text()
    assert "# old ones" in mosaic.home.settings.read_text()


def test_complex_settings_files_are_not_edited(mosaic: Mosaic) -> None:
    """The first of the printed next steps is the line to add."""
    mosaic.home.trainer.mkdir(parents=True, mode=0o700)
    own = '"worker_folders" = []\n'
    mosaic.home.settings.write_text(own)
    done = mosaic("workers", "new", "mine")
    assert done.returncode == 0
    assert f'1. add "{mosaic.folder}" to `worker_folders`' in done.stderr
    assert mosaic.home.settings.read_text() == own


def test_a_running_daemon_must_be_restarted(mosaic: Mosaic) -> None:
    """The command is printed; after the restart the worker is found."""
    mosaic.ok("daemon", "start")
    done = mosaic("workers", "new", "late")
    assert "1. `mosaic daemon stop`" in done.stderr
    assert "`mosaic train late --env CartPole-v1" in done.stderr
    assert "1. `mosaic daemon stop`" in mosaic("workers", "new", "as_late").stderr
    for command in (("workers", "late"), ("train", "late", "--env", "CartPole-v1")):
        done = mosaic(*command)
        assert done.returncode == 1
        assert "does not know late yet" in done.stderr
        assert "mosaic daemon stop" in done.stderr
    assert "There is no worker 'nobody'" in mosaic("workers", "nobody").stderr
    mosaic.ok("daemon", "stop")
    mosaic.ok("daemon", "start")
    made = mosaic.json("workers", "new", "later")
    assert made["restart_daemon"] is False
    listed = {worker["worker_id"] for worker in mosaic.json("workers")["workers"]}
    assert {"late", "as_late", "later"} <= listed


def test_workers_without_a_command_lists_them(mosaic: Mosaic) -> None:
    """The word `show` is optional."""
    mosaic.ok("daemon", "start")
    assert mosaic.json("workers", "echo_worker") == mosaic.json("workers", "show", "echo_worker")
    assert mosaic.json("workers") == mosaic.json("workers", "show")
    home = ("--home", str(mosaic.home.path))
    assert mosaic.json("workers", *home) == mosaic.json("workers", "show", *home)
    assert mosaic("workers", "--algo", "echo").returncode == 2


def test_workers_and_commands_are_completed() -> None:
    """At the same position."""
    shell = ShellComplete(root, {}, "mosaic", "_MOSAIC_COMPLETE")
    offered = {item.value for item in shell.get_completions(["workers"], "")}
    assert {"new", "show", "echo_worker", "cleanrl_worker"} <= offered
    assert [item.value for item in shell.get_completions(["workers"], "echo")] == ["echo_worker"]


def test_the_plain_template_learns_plays_and_stops(
    mosaic: Mosaic, give_bundles: GiveBundles
) -> None:
    """In a bundle from its own pins: CartPole is solved, and episodes replay exactly."""
    give_bundles(mosaic.home, "session_worker")  # its own is kept beside those of all tests
    mosaic.ok("workers", "new", "plain_example")
    mosaic.ok("daemon", "start")
    cart_pole = ("train", "plain_example", "--env", "CartPole-v1")
    done = mosaic.json(*cart_pole, "--total-timesteps", "12000", "--checkpoint-every", "3000")
    assert done["state"] == "succeeded"
    assert done["digest"]["steps"] == 12_000
    assert mosaic.json("evaluate", "last", "--episodes", "3")["summary"]["returns"]["mean"] > 300
    assert mosaic.json("replay", done["run_id"], "last", "--verify")["identical"]
    assert len(mosaic.json("checkpoints", "list", "--run", done["run_id"])["checkpoints"]) == 3
    names = {
        curve["name"] for curve in mosaic.json("telemetry", done["run_id"], "metrics")["series"]
    }
    assert {"return", "best_return"} <= names

    run = mosaic.json(*cart_pole, "--total-timesteps", "1000000000", "--detach")["run_id"]
    eventually(lambda: mosaic.json("runs", "show", run)["state"] == "running")
    mosaic.ok("runs", "pause", run)
    assert mosaic.json("runs", "show", run)["state"] == "paused"
    mosaic.ok("runs", "resume", run)
    mosaic.ok("runs", "stop", run)
    stopped = mosaic.json("runs", "show", run)
    assert stopped["state"] == "cancelled"
    steps = stopped["digest"]["steps"] + 2000
    gone_on = mosaic.json(
        "train", "plain_example", "--resume", run, "--total-timesteps", str(steps)
    )
    assert (gone_on["state"], gone_on["digest"]["steps"]) == ("succeeded", 2000)


def test_the_sb3_template_learns_and_plays(mosaic: Mosaic, give_bundles: GiveBundles) -> None:
    """In the bundle with Stable-Baselines3 of other tests, instead of a second torch."""
    give_bundles(mosaic.home, "cleanrl_upstream")
    mosaic.ok("workers", "new", "sb3_example", "--template", "sb3")
    use_bundle(mosaic.folder / "sb3_example", "cleanrl_upstream")
    mosaic.ok("daemon", "start")
    train = ("train", "sb3_example", "--env", "CartPole-v1", "--extra", "sb3", "--seed", "1")
    quick = ("--set", "learning_rate=0.002", "--set", "n_steps=256", "--set", "n_epochs=4")
    done = mosaic.json(
        *train, "--algo", "ppo", *quick, "--total-timesteps", "3072", "--telemetry", "columns"
    )
    assert done["state"] == "succeeded"
    assert done["digest"]["episodes"] > 50
    names = {
        curve["name"] for curve in mosaic.json("telemetry", done["run_id"], "metrics")["series"]
    }
    assert {"rollout/ep_rew_mean", "train/loss"} <= names
    played = mosaic.json("evaluate", "last", "--episodes", "3")
    assert played["summary"]["returns"]["mean"] > 100
    assert mosaic.json("replay", done["run_id"], "last", "--verify")["identical"]


def use_bundle(folder: Path, bundle: str) -> None:
    """Make the worker use a bundle of the checkout."""
    (folder / "requirements.txt").unlink()
    manifest = folder / "worker.toml"
    named = f'bundle = "{folder.name}"'
    assert named in manifest.read_text()
    manifest.write_text(manifest.read_text().replace(named, f'bundle = "{bundle}"'))


def test_home_is_used(tmp_path: Path) -> None:
    """`--home` selects the settings that get the folder."""
    mosaic = Mosaic(tmp_path)
    mosaic.ok("workers", "new", "mine", "--home", "other")
    assert "worker_folders" in Home(tmp_path / "other").settings.read_text()
    assert not mosaic.home.path.exists()
