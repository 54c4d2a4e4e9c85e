"""The panels of the selected run."""

import pytest
from PySide6.QtWidgets import QLabel

from mosaic.client import TrainerClient
from tests.gym_gui.end_to_end.window_driver import WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


def test_a_deleted_run_is_removed_from_all_panels(
    driver: WindowDriver, shared_daemon: DaemonUnderTest
) -> None:
    """The log is shown as soon as the run is listed; a deletion clears all panels."""
    run_id = shared_daemon.submit(steps=20, episode_length=4)
    models, navigation = driver.models, driver.context.navigation
    navigation.show_run(run_id)
    driver.wait(lambda: models.live.steps.rowCount() == 4 and models.log.run_id == run_id)
    shared_daemon.until(run_id)

    with TrainerClient.connect(shared_daemon.home) as client:
        client.delete(run_id)

    driver.wait(lambda: not models.live.run_id)
    assert (models.live.steps.rowCount(), models.live.episodes.rowCount()) == (0, 0)
    assert (models.video.run_id, models.log.run_id) == ("", "")


def test_a_selected_step_is_shown_until_follow_is_enabled(
    driver: WindowDriver, shared_daemon: DaemonUnderTest
) -> None:
    """Then the inspector shows the newest step again."""
    driver.context.navigation.watch(
        shared_daemon.submit(steps=1_000_000, rate=50, episode_length=500)
    )
    steps, inspector = driver.context.steps_view, driver.context.inspector

    def headings() -> list[str]:
        texts = [label.text() for label in inspector.findChildren(QLabel)]
        return [text for text in texts if text.startswith(("Step ", "Episode "))]

    driver.wait(lambda: driver.models.live.steps.row_at(2) is not None)
    steps.bar.follow.setChecked(False)
    steps.grid.selectRow(2)
    driver.window.show_telemetry("step")
    assert headings() == ["Episode 0 · step 2"]

    steps.bar.follow.setChecked(True)

    assert headings() != ["Episode 0 · step 2"]
    driver.models.run_actions.stop([driver.models.live.run_id])


def test_a_step_of_the_live_tab_opens_in_the_replay(
    driver: WindowDriver, shared_daemon: DaemonUnderTest
) -> None:
    """As in the table of the dock: a double click activates the row."""
    run_id = shared_daemon.submit(steps=20, episode_length=4)
    shared_daemon.until(run_id)
    driver.context.navigation.show_run(run_id)
    driver.open_tab("live")
    steps = driver.context.live_tab.steps
    driver.wait(lambda: driver.models.live.steps.row_at(2) is not None)

    steps.grid.row_activated.emit(2)

    driver.wait(lambda: driver.models.replay.run_id == run_id)


def test_a_disabled_tab_has_a_reason(driver: WindowDriver) -> None:
    """An empty reason enables the tab."""
    for reason in ("There is none.", "Not yet.", ""):
        driver.centre.set_tab_reason("video", reason)
        assert driver.centre.tab_reason("video") == reason
