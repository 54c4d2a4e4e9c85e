"""`--script`: a user script, which a worker describes before anything starts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.apprentice import WORKER, with_apprentice
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

_SCRIPT = """
class Args:
    learning_rate: float = 0.001
    layers: int = 2
    dueling: bool = False
    breaks: bool = False

raise SystemExit("it is never run to be described")
"""


@pytest.fixture(scope="module")
def mosaic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    with with_apprentice(tmp_path_factory.mktemp("scripts")) as made:
        yield made


@pytest.fixture
def script(mosaic: Mosaic) -> Path:
    path = mosaic.folder / "own_dqn.py"
    path.write_text(_SCRIPT)
    return path


def test_its_own_parameters_are_shown(mosaic: Mosaic, script: Path) -> None:
    """Instead of those of the worker's algorithms."""
    printed = mosaic.ok("workers", WORKER, "--script", script.name)
    assert "learning_rate  float, default 0.001" in printed
    assert "fail_at" not in printed
    (algorithm,) = mosaic.json("workers", WORKER, "--script", script.name)["descriptor"][
        "algorithms"
    ]
    assert algorithm["id"] == "own_dqn"


def test_an_edited_script_is_described_again(mosaic: Mosaic) -> None:
    """The new description replaces the previous one."""
    path = mosaic.folder / "edited.py"
    path.write_text("class Args:\n    before: int = 1\n")
    assert "before" in mosaic.ok("workers", WORKER, "--script", str(path))
    path.write_text("class Args:\n    afterwards: int = 1\n")
    assert "afterwards" in mosaic.ok("workers", WORKER, "--script", str(path))


def test_only_given_settings_reach_the_script(mosaic: Mosaic, script: Path) -> None:
    """With the types of the script, without defaults, in the bundle for scripts."""
    line = ("train", WORKER, "--script", script.name, "--env", "Some-v0")
    plan = mosaic.json(*line, "--preflight", "--set", "layers=3")
    assert any("apprentice_scripts-" in word for word in plan["command"])
    result = mosaic.json(*line, "--set", "layers=3", "--set", "dueling=yes")
    assert result["state"] == "succeeded"
    assert result["config"]["script"] == str(script)
    assert result["config"]["params"] == {"layers": 3, "dueling": True}
    assert result["bundle"]["name"] == "apprentice_scripts"
    assert result["resolved"]["algo"] == "own_dqn"
    assert "learning_rate" not in result["resolved"]["args"]
    names = {bundle["name"]: bundle for bundle in mosaic.json("bundles", "list")["bundles"]}
    assert names["apprentice_scripts"]["state"] == "ready"
    assert names["apprentice_scripts"]["available_extras"] == ["more"]
    summary = mosaic.json(*line, "--dry-run", "--set", "layers=4")["summary"]
    assert summary["arguments"]["layers"] == 4


def test_models_of_scripts_cannot_be_evaluated(mosaic: Mosaic, script: Path) -> None:
    """Neither resume nor play is offered, and both are rejected with an error."""
    line = ("train", WORKER, "--script", script.name, "--env", "Some-v0")
    done = mosaic(*line, "--set", "breaks=yes", "--name", "broken")
    assert (done.returncode, "--resume" in done.stderr) == (1, False)
    printed = mosaic("checkpoints", "show", "broken")
    assert (printed.returncode, "mosaic evaluate" in printed.stderr) == (0, False)
    only_the_script = "This model was saved by a script; only the script can load it."
    assert only_the_script in printed.stderr
    (saved,) = mosaic.json("checkpoints", "list", "--run", "broken")["checkpoints"]
    for tried in (("evaluate", "broken"), ("play", "Some-v0", "--actor", saved["checkpoint_id"])):
        done = mosaic(*tried)
        assert (done.returncode, only_the_script in done.stderr) == (1, True), done.stderr
    done = mosaic("train", WORKER, "--resume", "broken")
    assert done.returncode == 2
    assert "A run of a script cannot be resumed. Start a new run instead." in done.stderr
    done = mosaic(*line, "--warm-start", saved["checkpoint_id"])
    assert done.returncode == 1
    assert "cannot start from a checkpoint" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "layer=3"), "Did you mean `layers`"),
        (("--set", "layers=many"), "Expected an integer.\n"),
    ],
)
def test_an_invalid_parameter_starts_nothing(
    mosaic: Mosaic, script: Path, arguments: tuple[str, ...], message: str
) -> None:
    """With a suggestion, as for the worker's own algorithms."""
    line = ("train", WORKER, "--script", str(script), "--env", "Some-v0")
    done = mosaic(*line, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_missing_or_invalid_script_is_reported(mosaic: Mosaic, script: Path) -> None:
    """With the path, or with the worker's error."""
    line = ("train", WORKER, "--env", "Some-v0", "--script")
    done = mosaic(*line, "own_dqm.py")
    assert done.returncode == 2
    assert "no such file" in done.stderr
    broken = script.with_name("broken.py")
    broken.write_text("class Args(:")
    done = mosaic(*line, str(broken))
    assert done.returncode == 1
    assert "is no Python" in done.stderr


def test_a_script_by_module_name_is_passed_on(mosaic: Mosaic) -> None:
    """It may be a module that exists only in the bundle of the run."""
    done = mosaic("train", WORKER, "--env", "Some-v0", "--script", "cleanrl.ppo", "--preflight")
    assert done.returncode == 0, done.stderr
    assert "cleanrl.ppo" in done.stdout
    done = mosaic("train", WORKER, "--env", "Some-v0", "--script", "cleanrl.ppo")
    assert done.returncode == 1
    assert "cleanrl.ppo is not known" in done.stdout


def test_a_worker_without_script_support_is_rejected(mosaic: Mosaic, script: Path) -> None:
    """Before a run is created."""
    line = ("train", "echo_worker", "--env", "Echo-v0", "--script")
    done = mosaic(*line, str(script))
    assert done.returncode == 1
    assert "echo_worker does not run scripts" in done.stderr
    assert mosaic("workers", "--script", str(script)).returncode == 2
