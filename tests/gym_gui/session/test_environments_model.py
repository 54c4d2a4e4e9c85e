"""EnvironmentsModel: the rows of the picker, without a daemon."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from gym_gui.session.model.environments_model import RECENT, EnvironmentsModel
from mosaic.contract.layout import Home
from mosaic.contract.readiness import BundleInfo
from mosaic.envs import catalog


@pytest.fixture
def environments(tmp_path: Path, tasks: Tasks) -> EnvironmentsModel:
    link = TrainerLink(Home(tmp_path))
    return EnvironmentsModel(link, tasks, ThumbnailCache(link, tasks))


def _ids(model: EnvironmentsModel) -> list[str]:
    rows = (model.row_at(model.index(number)) for number in range(model.rowCount()))
    return [row.env_id for row in rows if row and row.kind == "environment"]


def test_all_families_with_headings_that_are_disabled(environments: EnvironmentsModel) -> None:
    """Every environment of the catalog is listed, grouped by family."""
    assert _ids(environments) == [entry.env_id for entry in catalog.environments()]
    heading = environments.index(0)
    assert heading.data() == "Toy text"
    assert environments.flags(heading) == Qt.ItemFlag.NoItemFlags
    assert environments.first_environment().row() == 1


def test_search_and_family_narrow_the_list(environments: EnvironmentsModel) -> None:
    """Families show their number of matches."""
    environments.search("lander")
    assert _ids(environments) == ["LunarLander-v3", "LunarLanderContinuous-v3"]
    counts = {family.id: family.count for family in environments.families()}
    assert (counts[""], counts["box2d"], counts["atari"]) == (2, 2, 0)
    environments.show_family("atari")
    assert _ids(environments) == []


def test_any_other_id_can_be_used(environments: EnvironmentsModel) -> None:
    """A search text that is not in the catalog is offered as an id."""
    environments.search("my_envs:Maze-v0")
    row = environments.row_at(environments.first_environment())
    assert row is not None
    assert (row.kind, row.env_id) == ("typed", "my_envs:Maze-v0")
    environments.search("CartPole-v1")
    assert _ids(environments) == ["CartPole-v1"]
    assert environments.rowCount() == 2


def test_recent_environments_come_first(environments: EnvironmentsModel) -> None:
    """As a separate group, also listed under their family."""
    environments.set_recent(("Taxi-v4", "CartPole-v1"))
    assert _ids(environments)[:2] == ["Taxi-v4", "CartPole-v1"]
    environments.show_family(RECENT)
    assert _ids(environments) == ["Taxi-v4", "CartPole-v1"]


def test_missing_packages_are_reported(environments: EnvironmentsModel) -> None:
    """Nothing is reported until the daemon has answered; then by family."""
    assert environments.needs("Ant-v5") == ""
    environments._on_bundles(
        [
            BundleInfo(name="session_worker", state="missing"),
            BundleInfo(name="learning_worker", state="ready"),
            BundleInfo(name="other_worker", state="missing"),
        ]
    )
    # An actor in the process of another worker needs the packages of that worker.
    assert environments.needs("CartPole-v1", "learning_worker") == ""
    assert environments.needs("CartPole-v1", "other_worker") != ""
    assert environments.needs("CartPole-v1") == "Required packages will be installed first."
    environments._on_bundles([BundleInfo(name="session_worker", state="ready")])
    assert environments.needs("CartPole-v1") == ""
    assert "mujoco" in environments.needs("Ant-v5")
    environments._on_bundles([BundleInfo(name="session_worker", state="ready", extras=("mujoco",))])
    assert environments.needs("Ant-v5") == ""
