"""TrainingModel when the daemon disappears, and when its run is deleted."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.training.model.training_model import TrainingModel
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def runs(services: Services) -> Iterator[RunsModel]:
    runs_model = RunsModel(services)
    yield runs_model
    runs_model.close()
    assert runs_model.join(10)


@pytest.fixture
def model(services: Services, runs: RunsModel) -> Iterator[TrainingModel]:
    model = TrainingModel(services, runs)
    yield model
    model.close()
    assert model.join(10)


def test_nothing_is_launched_without_a_daemon(
    qtbot: QtBot, model: TrainingModel, daemon: DaemonUnderTest
) -> None:
    """The reason is reported, and preflight runs again when the daemon is back."""
    model.set_environment("Echo-v0", {})
    qtbot.waitUntil(lambda: model.catalog.is_known, timeout=TIMEOUT_MS)
    model.form.choose_agent("echo_worker/echo")
    qtbot.waitUntil(lambda: model.readiness.is_current, timeout=TIMEOUT_MS)
    daemon.kill()
    qtbot.waitUntil(lambda: "does not answer" in model.launch_problem, timeout=TIMEOUT_MS)
    model.readiness.check_again()
    qtbot.waitUntil(lambda: model.readiness.problem is not None, timeout=TIMEOUT_MS)
    assert daemon.start().startswith("ready ")
    qtbot.waitUntil(lambda: model.readiness.is_current, timeout=TIMEOUT_MS)
    assert model.readiness.problem is None
    assert "does not answer" not in model.launch_problem


def test_a_deleted_run_is_dismissed(
    qtbot: QtBot, model: TrainingModel, runs: RunsModel, daemon: DaemonUnderTest
) -> None:
    """It is not displayed as a queued run."""
    run_id = daemon.submit(steps=10)
    daemon.until(run_id)
    qtbot.waitUntil(lambda: runs.by_id(run_id) is not None, timeout=TIMEOUT_MS)
    run = runs.by_id(run_id)
    assert run is not None
    model.run.follow(run)
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    qtbot.waitUntil(lambda: model.run.run is None, timeout=TIMEOUT_MS)
    assert not model.run.can_cancel
