"""SelectedRun: the metadata of the selected run is fetched and updated."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def selected(services: Services) -> Iterator[SelectedRun]:
    runs = RunsModel(services)
    model = SelectedRun(services, runs)
    yield model
    runs.close()
    assert runs.join(10)


def test_metadata_follows_the_run(
    qtbot: QtBot, selected: SelectedRun, daemon: DaemonUnderTest
) -> None:
    """Configuration and descriptor are fetched, and again when the state changes."""
    run_id = daemon.submit(steps=200, rate=400, episode_length=20)
    selected.select(run_id)
    assert not selected.is_known
    qtbot.waitUntil(lambda: selected.is_known, timeout=TIMEOUT_MS)
    assert selected.config is not None
    assert selected.config.worker == "echo_worker"
    assert selected.descriptor is not None
    assert selected.directory == daemon.home.run(run_id).path

    def has_succeeded() -> bool:
        details = selected.details
        return details is not None and details.run.state is RunState.SUCCEEDED

    qtbot.waitUntil(has_succeeded, timeout=TIMEOUT_MS)
    selected.select("")
    assert selected.run is None
    assert not selected.is_known


def test_an_unknown_run(qtbot: QtBot, selected: SelectedRun) -> None:
    """The error is available as `problem`."""
    selected.select("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    qtbot.waitUntil(lambda: selected.problem is not None, timeout=TIMEOUT_MS)
    assert not selected.is_known
