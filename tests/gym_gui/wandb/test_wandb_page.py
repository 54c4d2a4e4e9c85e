"""The page of Weights & Biases on a real daemon: found files, what is missing, and the key."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.wandb.model.wandb_model import WandbModel
from gym_gui.wandb.view.wandb_page import WandbPage
from mosaic.contract.manifest import ArtifactManifest
from tests.analytics.wandb_writing import history_record, log_of, some_records, wandb_folder
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a key nor a proxy that whoever runs the tests may have."""
    for name in [each for each in os.environ if each.startswith("WANDB_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def shown(
    link: TrainerLink, tasks: Tasks, pulse: UiTicker, notices: Notices
) -> Iterator[SelectedRun]:
    runs = RunsModel(link, tasks, pulse, notices)
    yield SelectedRun(link, tasks, runs)
    runs.close()
    assert runs.join(10)


@pytest.fixture
def model(
    link: TrainerLink, tasks: Tasks, pulse: UiTicker, notices: Notices, shown: SelectedRun
) -> Iterator[WandbModel]:
    made = WandbModel(link, tasks, pulse, notices, shown)
    yield made
    made.close()
    assert made.join(10)


@pytest.fixture
def page(qtbot: QtBot, model: WandbModel, theme: ThemeModel) -> WandbPage:
    made = WandbPage(model, theme)
    qtbot.addWidget(made)
    made.resize(750, 560)
    made.show()
    return made


def _submit(link: TrainerLink, *, steps: int = 10, **wandb: Any) -> str:
    config = {
        "worker": "echo_worker",
        "algo": "echo",
        "env_id": "Echo-v0",
        "params": {"steps": steps, "rate": 50.0},
        "artifacts": {"wandb": wandb},
    }
    return link.client.submit(config).run_id


def _said(page: QWidget) -> str:
    return " | ".join(each.text() for each in page.findChildren(QLabel) if each.isVisible())


def _rows(page: WandbPage) -> dict[str, str]:
    table = page.summary.model()
    return {
        str(table.index(row, 0).data()): str(table.index(row, 1).data())
        for row in range(table.rowCount())
    }


def test_an_offline_run_is_found_while_it_goes_on(
    qtbot: QtBot,
    page: WandbPage,
    model: WandbModel,
    shown: SelectedRun,
    link: TrainerLink,
    daemon: DaemonUnderTest,
) -> None:
    """Waiting at first; then its values, which grow; the command that uploads it; its state."""
    run_id = _submit(link, steps=1_000_000, enabled=True, mode="offline", project="mine")
    shown.show(run_id)
    qtbot.waitUntil(lambda: "Waiting for W&B to begin" in _said(page), timeout=PATIENCE_MS)
    records = some_records()
    folder = wandb_folder(daemon.run(run_id).wandb, records[:-1])
    qtbot.waitUntil(lambda: model.phase == "ready", timeout=PATIENCE_MS)
    assert _rows(page) == {"charts/return": "3"}
    said = _said(page)
    for words in ("CartPole ppo s1", "Offline, not uploaded", "cleanRL", "lab", "3 rows"):
        assert words in said
    assert str(folder) in said
    assert not page.facts.open.isEnabled()
    assert "not uploaded" in page.facts.open.toolTip()
    (folder / "run-abc12345.wandb").write_bytes(
        log_of([*records[:-1], history_record(512, {"charts/length": 20})])
    )
    qtbot.waitUntil(lambda: "4 rows, last step 512" in _said(page), timeout=PATIENCE_MS)
    assert _rows(page) == {"charts/length": "20", "charts/return": "3"}
    page.search.setText("len")
    assert _rows(page) == {"charts/length": "20"}
    page.facts.sync.copy.click()
    assert QApplication.clipboard().text().endswith(f"sync {folder}")
    with qtbot.waitSignal(page.reveal_wanted) as wanted:
        page.facts.show_folder.click()
    assert wanted.args == [str(folder)]
    page.which.choose("config")
    page.which.chosen.emit("config")
    assert page.config.isVisible()
    (folder / "run-abc12345.wandb.synced").touch()
    qtbot.waitUntil(lambda: "Uploaded" in page.facts.state.text(), timeout=PATIENCE_MS)
    link.client.cancel(run_id)


def test_a_damaged_file_and_a_run_that_left_nothing(
    qtbot: QtBot, page: WandbPage, shown: SelectedRun, link: TrainerLink, daemon: DaemonUnderTest
) -> None:
    """What could not be read is counted; a run that tracked and left nothing says so."""
    run_id = _submit(link, enabled=True, mode="offline")
    shown.show(run_id)
    qtbot.waitUntil(lambda: "W&B has left nothing" in _said(page), timeout=PATIENCE_MS)
    wandb_folder(daemon.run(run_id).wandb, [b"\xff\xff", *some_records()[:-1]])
    page.hide()
    page.show()
    qtbot.waitUntil(lambda: "1 record is damaged" in _said(page), timeout=PATIENCE_MS)
    shown.show("")
    qtbot.waitUntil(lambda: "No run is shown" in _said(page), timeout=PATIENCE_MS)
    shown.show(run_id)
    qtbot.waitUntil(lambda: "1 record is damaged" in _said(page), timeout=PATIENCE_MS)


def test_without_tracking_it_says_how_to(
    qtbot: QtBot, page: WandbPage, model: WandbModel, shown: SelectedRun, link: TrainerLink
) -> None:
    """Greyed with the words of the issue; the key can be set and the connection tested there."""
    assert "No run is shown" in _said(page)
    shown.show(_submit(link, enabled=False))
    qtbot.waitUntil(
        lambda: "Enable --track and login to use W&B" in _said(page), timeout=PATIENCE_MS
    )
    qtbot.waitUntil(lambda: model.key_is_set is False, timeout=PATIENCE_MS)
    assert "WANDB_API_KEY is not set" in _said(page)
    with qtbot.waitSignal(page.key_requested) as wanted:
        page.access.set_key.click()
    assert wanted.args == ["WANDB_API_KEY"]
    link.client.set_secret("WANDB_API_KEY", "k" * 40)
    model.refresh_key()
    qtbot.waitUntil(lambda: "WANDB_API_KEY is set" in _said(page), timeout=PATIENCE_MS)
    assert "kkk" not in _said(page)


def test_the_connection_is_tested(
    qtbot: QtBot, page: WandbPage, model: WandbModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the proxy of the environment; meanwhile the button says so, then the outcome."""
    monkeypatch.setenv("WANDB_BASE_URL", "https://tracker.invalid")
    monkeypatch.setenv("WANDB_VPN_HTTPS_PROXY", "http://ada:secret@127.0.0.1:1")
    model.changed.emit()
    assert "https://tracker.invalid through the proxy http://127.0.0.1:1" in _said(page)
    page.access.test.click()
    assert page.access.test.text() == "Testing…"
    assert not page.access.test.isEnabled()
    qtbot.waitUntil(lambda: "refuses connections on port 1" in _said(page), timeout=PATIENCE_MS)
    assert page.access.test.isEnabled()
    assert "secret" not in _said(page)


def test_a_run_online_is_opened(
    qtbot: QtBot,
    page: WandbPage,
    model: WandbModel,
    shown: SelectedRun,
    link: TrainerLink,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Its address, with the proxy to reach it through."""
    address = "https://wandb.ai/lab/cleanRL/runs/abc"
    shown.show(_submit(link, enabled=True))
    qtbot.waitUntil(lambda: shown.is_known, timeout=PATIENCE_MS)
    monkeypatch.setattr(SelectedRun, "manifest", ArtifactManifest(wandb_url=address))
    monkeypatch.setenv("WANDB_VPN_HTTPS_PROXY", "http://proxy:8080")
    model.changed.emit()
    assert "Online" in _said(page)
    assert "The values are on the server" in _said(page)
    with qtbot.waitSignal(page.open_wanted) as wanted:
        page.facts.open.click()
    assert wanted.args == [address, "http://proxy:8080"]
    page.facts.copy_address.click()
    assert QApplication.clipboard().text() == address
    assert not list(tmp_path.glob("wandb*"))
