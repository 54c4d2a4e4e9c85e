"""The run that all panels are about: its papers come, and are new when something happens."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def shown(
    link: TrainerLink, tasks: Tasks, ticker: UiTicker, notices: Notices
) -> Iterator[SelectedRun]:
    runs = RunsModel(link, tasks, ticker, notices)
    made = SelectedRun(link, tasks, runs)
    yield made
    runs.close()
    assert runs.join(10)


def test_papers_follow_the_run(qtbot: QtBot, shown: SelectedRun, daemon: DaemonUnderTest) -> None:
    """Configuration and descriptor at once, the history again when its state is another."""
    run_id = daemon.submit(steps=200, rate=400, episode_length=20)
    shown.show(run_id)
    assert not shown.is_known
    qtbot.waitUntil(lambda: shown.is_known, timeout=PATIENCE_MS)
    assert shown.config is not None
    assert shown.config.worker == "echo_worker"
    assert shown.descriptor is not None
    assert shown.directory == daemon.home.run(run_id).path

    def is_over() -> bool:
        details = shown.details
        return details is not None and details.run.state is RunState.SUCCEEDED

    qtbot.waitUntil(is_over, timeout=PATIENCE_MS)
    shown.show("")
    assert shown.run is None
    assert not shown.is_known


def test_a_run_that_is_not_there(qtbot: QtBot, shown: SelectedRun) -> None:
    """The reason is kept, for whoever shows it."""
    shown.show("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    qtbot.waitUntil(lambda: shown.problem is not None, timeout=PATIENCE_MS)
    assert not shown.is_known
