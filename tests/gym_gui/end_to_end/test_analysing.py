"""Results of a run in the complete window: curves, event files, policies, trials."""

import json
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.tensorboard.view.tensorboard_server_card import TensorBoardServerCard
from gym_gui.training.view.trained_panel import TrainedPanel
from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from tests.client.sweeps.conftest import WORKERS, slope_sweep
from tests.gym_gui.end_to_end.curves import is_rising, plotted_returns
from tests.gym_gui.end_to_end.window_driver import TRAINING_TIMEOUT_MS, WindowDriver
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

BUNDLES = ("cleanrl_worker", "sweep_worker")
SETTINGS = {"worker_folders": [str(WORKERS)], "cpus": 8}
CONFIG = {
    "run_name": "trained",
    "worker": "cleanrl_worker",
    "algo": "ppo",
    "env_id": "CartPole-v1",
    "seed": 1,
    "total_timesteps": 6_000,
    "artifacts": {"wandb": {"enabled": True, "mode": "offline", "project": "proof"}},
}


@pytest.fixture(scope="module")
def trained_run(shared_daemon: DaemonUnderTest) -> str:
    """A finished run with event files, checkpoints and an offline W&B run."""
    with TrainerClient.connect(shared_daemon.home, start=False) as client:
        run = client.wait(client.submit(CONFIG).run_id, TRAINING_TIMEOUT_MS / 1000)
    assert run.state == "succeeded", run.reason
    return run.run_id


class Browser(QObject):
    """Replaces the desktop's browser and records the opened URLs."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toString())


@pytest.fixture
def browser() -> Iterator[Browser]:
    browser = Browser()
    # The annotation says bytes, which PySide rejects.
    QDesktopServices.setUrlHandler("http", browser, "open")  # type: ignore[arg-type]
    yield browser
    QDesktopServices.unsetUrlHandler("http")


def test_start_and_stop_tensorboard(
    driver: WindowDriver, trained_run: str, browser: Browser
) -> None:
    """A click starts a server for this run and opens the browser; another click stops it."""
    driver.select_run(trained_run)
    driver.open_tab("tensorboard")
    page = driver.context.analysis.tensorboard_page.content.page
    driver.wait(lambda: driver.button("Start TensorBoard", page).isEnabled())
    driver.click_on("Start TensorBoard", page)
    driver.wait(lambda: browser.opened, TRAINING_TIMEOUT_MS)
    (address,) = browser.opened
    assert "<title>TensorBoard</title>" in fetch(address)
    assert "charts/episodic_return" in fetch(f"{address.rstrip('/')}/data/plugin/scalars/tags")
    (card,) = page.findChildren(TensorBoardServerCard)
    assert address.rstrip("/") in " ".join(driver.texts(card))

    driver.click_on("Stop trained", card)

    driver.wait(lambda: not page.findChildren(TensorBoardServerCard))
    driver.wait(lambda: is_stopped(address))
    assert driver.button("Start TensorBoard", page).isEnabled()


def test_a_finished_run_after_a_restart(
    shared_daemon: DaemonUnderTest, open_window: Callable[[Home], WindowDriver], trained_run: str
) -> None:
    """Overview, row and curve are the same with a new daemon and a new window."""
    before = read_run(open_window(shared_daemon.home), trained_run)
    assert is_rising(before["curve"])
    assert {"CartPole-v1", "CleanRL Worker"} <= set(before["overview"])

    shared_daemon.restart()

    assert read_run(open_window(shared_daemon.home), trained_run) == before


def read_run(driver: WindowDriver, run_id: str) -> dict[str, Any]:
    """The overview, row and curve of a run; closes the window."""
    driver.wait(lambda: driver.context.link.is_ready)
    driver.open_run(run_id)
    assert driver.centre.current == "charts"
    driver.wait(is_plotted_completely(driver))
    curve = plotted_returns(driver)
    driver.open_tab("run")
    model = driver.context.analysis.models.run_page
    driver.wait(lambda: model.overview.best is not None)
    driver.wait_idle()
    overview = driver.texts(driver.context.analysis.run_page.content)
    row = [driver.cell_text(run_id, column) for column in RunColumn if column != RunColumn.CREATED]
    driver.close()
    return {"curve": curve, "overview": overview, "row": row}


def is_plotted_completely(driver: WindowDriver) -> Callable[[], bool]:
    def is_complete() -> bool:
        points = plotted_returns(driver)
        return bool(points) and points[-1][0] > 5_000

    return is_complete


@pytest.mark.usefixtures("trained_run")
def test_play_with_a_trained_policy(driver: WindowDriver) -> None:
    """Use trained lists the saved policies; a click selects one, and Play starts it."""
    panel = driver.context.session_panel
    driver.click_on("Agent", panel)
    driver.models.session_panel.choice.choose("CartPole-v1")
    driver.click_on("Use trained", panel.training_area)
    driver.wait(lambda: panel.findChildren(TrainedPanel))
    trained = panel.findChildren(TrainedPanel)[0]
    driver.wait(lambda: trained.list.isVisible() and trained.list.model().rowCount())
    first = trained.list.model().index(0, 0)
    assert first.data() == "trained"
    driver.wait_idle()
    driver.click(trained.list.viewport(), trained.list.visualRect(first).center())
    policy = driver.context.training.policies.policies[0].id
    driver.wait(lambda: driver.models.session_panel.actor_id == policy)
    driver.click_on("Play", panel)
    play = driver.models.play
    driver.wait(lambda: play.is_playing and play.step_view.step > 0, TRAINING_TIMEOUT_MS)
    assert driver.centre.group == "watch"
    config = load_run_config(driver.context.link.client.run(play.state.run_id).config_json)
    assert (config.worker, config.mode, config.actor) == ("cleanrl_worker", "play", policy)
    driver.command("session.stop")
    driver.wait(lambda: not play.is_on)


def test_an_offline_wandb_run(
    driver: WindowDriver, trained_run: str, shared_daemon: DaemonUnderTest
) -> None:
    """Its summary values, and the command that uploads it."""
    driver.select_run(trained_run)
    driver.open_tab("wandb")
    page = driver.context.analysis.wandb_page.content.page
    driver.wait(lambda: page.summary.isVisible() and page.summary.model().rowCount())
    assert page.run_info.state.text() == "Offline, not uploaded"
    assert "proof" in driver.texts(page.run_info)
    rows = page.summary.model()
    values = {
        rows.index(row, 0).data(): rows.index(row, 1).data() for row in range(rows.rowCount())
    }
    assert float(values["charts/episodic_return"]) > 0
    (folder,) = (shared_daemon.run(trained_run).path / "wandb").glob("offline-run-*")
    (command,) = (text for text in driver.texts(page.run_info.sync) if "wandb sync" in text)
    assert str(folder) in command
    assert not page.run_info.open.isEnabled()
    assert "offline" in page.run_info.open.toolTip()


def test_the_trials_of_a_sweep(driver: WindowDriver, shared_daemon: DaemonUnderTest) -> None:
    """The tab opens while the sweep runs; finally the table equals the database."""
    with TrainerClient.connect(shared_daemon.home, start=False) as client:
        run_id = client.submit(slope_sweep(client, "slope=1,4,2,3", parallel=2, trials=4)).run_id
    driver.open_run(run_id)
    assert driver.centre.current == "optuna"
    model = driver.context.analysis.models.study
    driver.wait(lambda: driver.cell_text(run_id, RunColumn.STATE) == "✓ done", TRAINING_TIMEOUT_MS)
    stored = stored_trials(shared_daemon.run(run_id).study)
    assert len(stored) == 4
    driver.wait(lambda: displayed_trials(driver) == stored)
    page = driver.context.analysis.study_page.content
    best = max(stored, key=lambda trial: trial[3])
    assert f"★ Best, trial {best[0]}" in driver.texts(page)
    (best_run,) = model.runs_of(model.trials.trial(best[0]))
    driver.click(page.best.open)
    driver.wait(lambda: driver.context.analysis.selected_run.run_id == best_run)
    driver.wait(lambda: driver.centre.current == "charts")
    driver.wait(lambda: driver.context.analysis.models.charts.phase == "ready")
    driver.wait_idle()


Trial = tuple[int, str, float, float]
"""Number, state, parameter and value."""


def displayed_trials(driver: WindowDriver) -> list[Trial]:
    header, *rows = driver.context.analysis.models.study.trials.as_rows()
    trials = [dict(zip(header, row, strict=True)) for row in rows]
    return [
        (int(trial["trial"]), trial["state"], float(trial["slope"]), float(trial["value"] or "nan"))
        for trial in trials
    ]


def stored_trials(database: Path) -> list[Trial]:
    """Read with plain SQL."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        rows = opened.execute(
            "SELECT number, lower(state), param_value, distribution_json, value"
            " FROM trials JOIN trial_params USING (trial_id) JOIN trial_values USING (trial_id)"
            " ORDER BY number"
        )
        return [
            # The database stores the index of a categorical value.
            (number, state, json.loads(kind)["attributes"]["choices"][int(index)], value)
            for number, state, index, kind, value in rows
        ]


def is_stopped(address: str) -> bool:
    """Whether the server no longer listens; it stops shortly after its card is removed."""
    try:
        fetch(address)
    except urllib.error.URLError as error:
        return isinstance(error.reason, ConnectionRefusedError)
    except ConnectionError:
        return False  # it is stopping
    return False


def fetch(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - our own server
        return str(answer.read().decode())
