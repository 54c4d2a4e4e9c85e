"""`mosaic sweep`: from the command line to a preset for training."""

import json
from collections.abc import Callable, Iterator

import pytest

from tests.client.sweeps.conftest import prepare_home
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

_SWEEP = ("sweep", "slope_worker", "--env", "Slope-v0", "--metric", "score")


@pytest.fixture(scope="module")
def swept(
    tmp_path_factory: pytest.TempPathFactory, give_bundles: Callable[..., None]
) -> Iterator[Mosaic]:
    """With a running daemon and the bundle for sweeps."""
    made = Mosaic(tmp_path_factory.mktemp("sweeping"))
    prepare_home(made.home, give_bundles)
    try:
        made.ok("daemon", "start")
        yield made
    finally:
        made.clean_up()


def test_a_sweep_saves_a_preset_and_can_be_resumed(swept: Mosaic) -> None:
    """Two trials and their preset; then a third trial in a resumed sweep."""
    options = ("--search", "slope=1,2", "--trials", "2", "--parallel", "2", "--sampler", "grid")
    done = swept(*_SWEEP, *options, "--set", "points=2", "--save-as", "steep", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["state"], result["preset"]) == ("succeeded", "steep")
    assert (result["study"]["best"]["params"], len(result["study"]["trials"])) == (
        {"slope": 2.0},
        2,
    )
    assert "best so far" in done.stderr
    trained = swept.json("train", "slope_worker", "--preset", "steep", "--seed", "5")
    assert (trained["config"]["params"], trained["seed"]) == ({"points": 2, "slope": 2.0}, 5)
    printed = swept.ok("sweep", "show")
    assert "Best: trial" in printed
    assert "mosaic train slope_worker --preset steep" in printed
    resumed = swept.json("sweep", "--resume", "last", "--trials", "3", "--option", "sampler=random")
    assert (resumed["state"], len(resumed["study"]["trials"])) == ("succeeded", 3)
    assert resumed["run_id"] != result["run_id"]
    file = str(swept.home.run(result["run_id"]).study)
    assert swept.json("sweep", "show", file)["best"] == result["study"]["best"]


def test_usage_errors_start_no_run(swept: Mosaic) -> None:
    """Exit code 2 and a suggestion."""
    before = swept.json("runs", "list")["total"]
    for options, expected in (
        (("--search", "slpe=1,2"), "slope"),
        (("--search", "slope=1,2", "--set", "slope=1"), "give either --set or --search"),
        (("--sampler", "tep"), "tpe"),
        (("--option", "windw=3"), "window"),
        (("--resume", "last"), "keeps the configuration of the sweep"),
    ):
        done = swept(*_SWEEP, *options)
        assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
    assert swept.json("runs", "list")["total"] == before


def test_a_run_that_is_not_a_sweep_is_reported(swept: Mosaic) -> None:
    """A run without a study, and a missing preset or one of another worker."""
    run = swept.json("train", "slope_worker", "--env", "Slope-v0")["run_id"]
    refused = swept("sweep", "show", run)
    assert (refused.returncode, "has no study" in refused.stderr) == (1, True)
    assert "is not a sweep" in swept("sweep", "--resume", run).stderr
    assert "no preset" in swept("train", "slope_worker", "--preset", "none-such").stderr
    preset = swept.folder / "echo.json"
    preset.write_text('{"worker": "echo_worker"}')
    other = swept("train", "slope_worker", "--preset", str(preset))
    assert (other.returncode, "is for echo_worker" in other.stderr) == (2, True)
