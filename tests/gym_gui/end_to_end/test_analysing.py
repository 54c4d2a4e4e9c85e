"""What a run has left behind, in the whole window: curves, event files, policies, trials."""

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
from tests.gym_gui.end_to_end.curves import drawn_returns, rises
from tests.gym_gui.end_to_end.person import LEARNS_MS, Person
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

BUNDLES = ("cleanrl_worker", "sweep_worker")
SETTINGS = {"worker_folders": [str(WORKERS)], "cpus": 8}
LEARNED = {
    "run_name": "learned",
    "worker": "cleanrl_worker",
    "algo": "ppo",
    "env_id": "CartPole-v1",
    "seed": 1,
    "total_timesteps": 6_000,
    "artifacts": {"wandb": {"enabled": True, "mode": "offline", "project": "proof"}},
}


@pytest.fixture(scope="module")
def learned(shared_daemon: DaemonUnderTest) -> str:
    """A run that is over, with event files, checkpoints and an offline run of W&B."""
    with TrainerClient.connect(shared_daemon.home, start=False) as client:
        run = client.wait(client.submit(LEARNED).run_id, LEARNS_MS / 1000)
    assert run.state == "succeeded", run.reason
    return run.run_id


class Browser(QObject):
    """In place of the desktop's: notes what it was to open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toString())


@pytest.fixture
def browser() -> Iterator[Browser]:
    made = Browser()
    # Bytes, as its types have it, it does not take.
    QDesktopServices.setUrlHandler("http", made, "open")  # type: ignore[arg-type]
    yield made
    QDesktopServices.unsetUrlHandler("http")


def test_opening_tensorboard(person: Person, learned: str, browser: Browser) -> None:
    """A click starts a real one, which serves this run; the browser is led there; one ends it."""
    person.choose_run(learned)
    person.look_at("tensorboard")
    page = person.bench.analysis.tensorboard_page.content.page
    person.wait(lambda: person.button("Start TensorBoard", page).isEnabled())
    person.click_on("Start TensorBoard", page)
    person.wait(lambda: browser.opened, LEARNS_MS)
    (address,) = browser.opened
    assert "<title>TensorBoard</title>" in fetched(address)
    assert "charts/episodic_return" in fetched(f"{address.rstrip('/')}/data/plugin/scalars/tags")
    (card,) = page.findChildren(TensorBoardServerCard)
    assert address.rstrip("/") in " ".join(person.words(card))

    person.click_on("Stop learned", card)

    person.wait(lambda: not page.findChildren(TensorBoardServerCard))
    person.wait(lambda: is_refused(address))
    assert person.button("Start TensorBoard", page).isEnabled()


def test_a_finished_run_after_a_restart_of_everything(
    shared_daemon: DaemonUnderTest, arrive: Callable[[Home], Person], learned: str
) -> None:
    """Daemon and window are new; its overview, its row and its curve are what they were."""
    before = seen_of(arrive(shared_daemon.home), learned)
    assert rises(before["curve"])
    assert {"CartPole-v1", "CleanRL Worker"} <= set(before["overview"])

    shared_daemon.restart()

    assert seen_of(arrive(shared_daemon.home), learned) == before


def seen_of(person: Person, run_id: str) -> dict[str, Any]:
    """Everything a person sees of the run; then they leave."""
    person.wait(lambda: person.bench.link.is_ready)
    person.open_run(run_id)
    assert person.centre.current == "charts"
    person.wait(drawn_to_the_end(person))
    curve = drawn_returns(person)
    person.look_at("run")
    model = person.bench.analysis.models.run_page
    person.wait(lambda: model.overview.best is not None)
    person.settle()
    overview = person.words(person.bench.analysis.run_page.content)
    row = [person.listed(run_id, column) for column in RunColumn if column != RunColumn.CREATED]
    person.leave()
    return {"curve": curve, "overview": overview, "row": row}


def drawn_to_the_end(person: Person) -> Callable[[], bool]:
    def is_drawn() -> bool:
        points = drawn_returns(person)
        return bool(points) and points[-1][0] > 5_000

    return is_drawn


@pytest.mark.usefixtures("learned")
def test_playing_what_was_learned(person: Person) -> None:
    """Use trained lists what the run has saved; a click chooses one, and Play lets it act."""
    panel = person.bench.session_panel
    person.click_on("Agent", panel)
    person.models.session_panel.choice.choose("CartPole-v1")
    person.click_on("Use trained", panel.training_area)
    person.wait(lambda: panel.findChildren(TrainedPanel))
    trained = panel.findChildren(TrainedPanel)[0]
    person.wait(lambda: trained.list.isVisible() and trained.list.model().rowCount())
    first = trained.list.model().index(0, 0)
    assert first.data() == "learned"
    person.settle()
    person.click(trained.list.viewport(), trained.list.visualRect(first).center())
    policy = person.bench.training.policies.policies[0].id
    person.wait(lambda: person.models.session_panel.actor_id == policy)
    person.click_on("Play", panel)
    play = person.models.play
    person.wait(lambda: play.is_playing and play.step_view.step > 0, LEARNS_MS)
    assert person.centre.group == "watch"
    config = load_run_config(person.bench.link.client.run(play.state.run_id).config_json)
    assert (config.worker, config.mode, config.actor) == ("cleanrl_worker", "play", policy)
    person.command("session.stop")
    person.wait(lambda: not play.is_on)


def test_an_offline_run_of_wandb(
    person: Person, learned: str, shared_daemon: DaemonUnderTest
) -> None:
    """Found in the run's folder: its last values, and the command that uploads it."""
    person.choose_run(learned)
    person.look_at("wandb")
    page = person.bench.analysis.wandb_page.content.page
    person.wait(lambda: page.summary.isVisible() and page.summary.model().rowCount())
    assert page.run_info.state.text() == "Offline, not uploaded"
    assert "proof" in person.words(page.run_info)
    rows = page.summary.model()
    values = {
        rows.index(row, 0).data(): rows.index(row, 1).data() for row in range(rows.rowCount())
    }
    assert float(values["charts/episodic_return"]) > 0
    (folder,) = (shared_daemon.run(learned).path / "wandb").glob("offline-run-*")
    (command,) = (words for words in person.words(page.run_info.sync) if "wandb sync" in words)
    assert str(folder) in command
    assert not page.run_info.open.isEnabled()
    assert "offline" in page.run_info.open.toolTip()


def test_the_trials_of_a_sweep(person: Person, shared_daemon: DaemonUnderTest) -> None:
    """Opened in its tab, while it goes on; in the end the table is what the database holds."""
    with TrainerClient.connect(shared_daemon.home, start=False) as client:
        run_id = client.submit(slope_sweep(client, "slope=1,4,2,3", parallel=2, trials=4)).run_id
    person.open_run(run_id)
    assert person.centre.current == "optuna"
    model = person.bench.analysis.models.study
    person.wait(lambda: person.listed(run_id, RunColumn.STATE) == "✓ done", LEARNS_MS)
    stored = trials_in(shared_daemon.run(run_id).study)
    assert len(stored) == 4
    person.wait(lambda: shown_trials(person) == stored)
    page = person.bench.analysis.study_page.content
    best = max(stored, key=lambda trial: trial[3])
    assert f"★ Best, trial {best[0]}" in person.words(page)
    (tried,) = model.runs_of(model.trials.trial(best[0]))
    person.click(page.best.open)
    person.wait(lambda: person.bench.analysis.shown.run_id == tried)
    person.wait(lambda: person.centre.current == "charts")
    person.wait(lambda: person.bench.analysis.models.charts.phase == "ready")
    person.settle()


Trial = tuple[int, str, float, float]
"""Its number, its state, what was tried, and what came of it."""


def shown_trials(person: Person) -> list[Trial]:
    head, *rows = person.bench.analysis.models.study.trials.as_rows()
    told = [dict(zip(head, row, strict=True)) for row in rows]
    return [
        (int(each["trial"]), each["state"], float(each["slope"]), float(each["value"] or "nan"))
        for each in told
    ]


def trials_in(database: Path) -> list[Trial]:
    """By plain SQL."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        rows = opened.execute(
            "SELECT number, lower(state), param_value, distribution_json, value"
            " FROM trials JOIN trial_params USING (trial_id) JOIN trial_values USING (trial_id)"
            " ORDER BY number"
        )
        return [
            # Of a choice the database has the place among the choices.
            (number, state, json.loads(kind)["attributes"]["choices"][int(place)], value)
            for number, state, place, kind, value in rows
        ]


def is_refused(address: str) -> bool:
    """Whether nothing listens there: the server ends a moment after its card is gone."""
    try:
        fetched(address)
    except urllib.error.URLError as error:
        return isinstance(error.reason, ConnectionRefusedError)
    except ConnectionError:
        return False  # it was ending; the next try is refused
    return False


def fetched(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - our own server
        return str(answer.read().decode())
