"""`mosaic envs`: the catalog, without a daemon."""

from pathlib import Path

import pytest

from mosaic.cli.envs import family_state
from mosaic.contract.readiness import BundleInfo, BundleState
from mosaic.envs import catalog
from tests.cli.test_completion import offered
from tests.support.mosaic_cli import Mosaic


def bundle(state: BundleState, *extras: str) -> BundleInfo:
    return BundleInfo(name="session_worker", state=state, extras=extras)


@pytest.mark.parametrize(
    ("family", "bundles", "state"),
    [
        ("box2d", [], "not installed"),
        ("box2d", [bundle("missing")], "not installed"),
        ("box2d", [bundle("ready")], "ready"),
        ("box2d", [bundle("outdated"), bundle("ready", "mujoco")], "ready"),
        ("mujoco", [bundle("ready")], "not installed"),
        ("mujoco", [bundle("ready"), bundle("installing", "mujoco")], "installing"),
        ("mujoco", [bundle("ready", "mujoco")], "ready"),
        ("atari", [bundle("broken")], "broken"),
    ],
)
def test_a_family_is_as_ready_as_its_bundle(
    family: str, bundles: list[BundleInfo], state: str
) -> None:
    """MuJoCo needs its extra; a ready bundle has precedence over others."""
    assert family_state(catalog.family(family), bundles) == state


@pytest.mark.process
def test_the_list_has_every_environment_and_what_installs_it(tmp_path: Path) -> None:
    """Grouped by family; nothing is written, and no daemon is started."""
    mosaic = Mosaic(tmp_path)
    listed = mosaic.ok("envs")
    assert all(entry.env_id in listed for entry in catalog.environments())
    assert "mosaic bundles install session_worker --extra mujoco" in listed
    assert not mosaic.home.path.exists()


@pytest.mark.process
def test_the_list_can_be_filtered(tmp_path: Path) -> None:
    """By family, by text, and by both."""
    mosaic = Mosaic(tmp_path)
    found = mosaic.json("envs", "--family", "minigrid", "--search", "lavagap")
    assert {entry["env_id"] for entry in found["environments"]} == {
        f"MiniGrid-LavaGapS{size}-v0" for size in (5, 6, 7)
    }
    assert {family["id"] for family in found["families"]} == {
        family.id for family in catalog.families()
    }
    assert found["environments"][0]["state"] == "not installed"
    nothing = mosaic("envs", "--search", "no such thing")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert "Nothing in the catalog matches" in nothing.stderr


@pytest.mark.process
def test_one_environment_is_shown_completely(tmp_path: Path) -> None:
    """Description, settings with ranges, and keys."""
    printed = Mosaic(tmp_path).ok("envs", "LunarLander-v3")
    for part in (
        "Land softly",
        "gravity",
        "-11.99 to -0.01",
        "[↑]",
        "main engine",
        "2 main engine",
    ):
        assert part in printed
    assert "mosaic play LunarLander-v3" in printed


@pytest.mark.process
def test_one_environment_as_a_document(tmp_path: Path) -> None:
    """It has everything that a form needs."""
    document = Mosaic(tmp_path).json("envs", "CarRacing-v3")
    assert {field["name"] for field in document["fields"]} == {
        "continuous",
        "lap_complete_percent",
        "domain_randomize",
    }
    assert len(document["keys"]["axes"]) == 3
    assert document["installs"] == "mosaic bundles install session_worker"


@pytest.mark.process
def test_an_unknown_environment_gets_suggestions(tmp_path: Path) -> None:
    """A misspelt id is an error; an id of a user's package is accepted."""
    mosaic = Mosaic(tmp_path)
    done = mosaic("envs", "LunarLandr-v3")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--family mujoco" in mosaic("envs", "mujoco").stderr
    assert "Did you mean LunarLander-v3?" in done.stderr
    assert mosaic.json("envs", "my.package:Thing-v1")["is_generated"]
    assert mosaic("envs", "Taxi-v4", "--family", "atari").returncode == 2


@pytest.mark.process
def test_environments_are_completed(tmp_path: Path) -> None:
    """By the prefix of their ids."""
    assert offered(Mosaic(tmp_path), "envs", "Lunar") == [
        "LunarLander-v3",
        "LunarLanderContinuous-v3",
    ]
