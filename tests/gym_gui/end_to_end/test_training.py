"""Training in the complete window: from the form to a finished or stopped run."""

import pytest

from gym_gui.runs.model.runs_columns import RunColumn
from tests.gym_gui.end_to_end.curves import is_rising, plotted_returns
from tests.gym_gui.end_to_end.training_driver import TrainingDriver
from tests.gym_gui.end_to_end.window_driver import TRAINING_TIMEOUT_MS, WindowDriver

pytestmark = pytest.mark.process

BUNDLES = ("cleanrl_worker",)


def test_training_from_the_form(driver: WindowDriver) -> None:
    """PPO learns CartPole: the run is listed, its curve rises, and its end reason is displayed.

    Launching does not switch the tab.
    """
    training = TrainingDriver(driver)
    driver.centre.show_tab("raw")
    training.open_form()
    training.select_environment("CartPole-v1")
    training.select_agent("CleanRL Worker · DQN")
    training.select_agent("CleanRL Worker · PPO")
    training.write("run", "total_timesteps", "8000")
    assert training.dock.launch_bar.consent.isHidden()
    run_id = training.launch()
    driver.wait(lambda: driver.cell_text(run_id, RunColumn.STATE) == "● running")
    assert driver.cell_text(run_id, RunColumn.ENVIRONMENT) == "CartPole-v1"
    assert driver.cell_text(run_id, RunColumn.ALGORITHM) == "ppo"
    assert (driver.centre.current, driver.centre.shows_tabs) == ("raw", True)
    assert any("was launched" in text for text in driver.notices)

    driver.open_run(run_id)
    assert driver.centre.current == "charts"
    driver.wait(lambda: plotted_returns(driver), TRAINING_TIMEOUT_MS)
    early = plotted_returns(driver)
    assert training.badge() == "● running"
    driver.wait(lambda: len(plotted_returns(driver)) > len(early), TRAINING_TIMEOUT_MS)

    driver.wait(lambda: driver.cell_text(run_id, RunColumn.STATE) == "✓ done", TRAINING_TIMEOUT_MS)
    driver.wait(lambda: training.badge() == "✓ done")
    assert "Finished." in training.run_card_texts()
    driver.wait(lambda: plotted_returns(driver)[-1][0] > 7_000)
    assert is_rising(plotted_returns(driver))


def test_stopping_a_run_in_the_list(driver: WindowDriver) -> None:
    """List and dock show the same state, and Stop is disabled afterwards."""
    training = TrainingDriver(driver)
    stop = driver.context.runs_view.bar.buttons["stop"]
    training.open_form()
    training.select_agent("Echo Worker · Echo")
    training.write("params", "steps", "1000000")
    training.write("params", "rate", "50")
    run_id = training.launch()
    driver.wait(lambda: driver.cell_text(run_id, RunColumn.STATE) == "● running")
    driver.select_run(run_id)
    driver.click(stop)
    driver.wait(lambda: driver.cell_text(run_id, RunColumn.STATE) == "○ stopped")
    driver.wait(lambda: training.badge() == "○ stopped")
    assert not stop.isEnabled()
    assert stop.toolTip() == "Stop: The run has ended."
    assert any("window" in text for text in training.run_card_texts())


def test_a_failed_dry_run(driver: WindowDriver) -> None:
    """The output of the worker and its command become visible."""
    training = TrainingDriver(driver)
    training.open_form()
    training.select_environment("CartPole-v1")
    training.select_agent("CleanRL Worker · PPO")
    training.write("params", "gamma", "2")
    notes = training.dock.notes
    assert not notes.isVisible()

    driver.click_on("Dry run")

    driver.wait(lambda: notes.isVisible() and not notes.text.visibleRegion().isEmpty())
    title, *lines = training.notes().splitlines()
    assert title.startswith("✕ Dry run of CleanRL Worker · PPO failed after ")
    assert any("params.gamma: 2.0 is" in line for line in lines), lines
    assert any(line.startswith("$ ") and "--dry-run" in line for line in lines), lines
    driver.click_on("Clear", notes)
    assert not notes.isVisible()
