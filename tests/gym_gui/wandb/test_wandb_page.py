"""The W&B page on a real daemon: local files, missing files, and the API key."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.wandb.model.wandb_model import WandbModel
from gym_gui.wandb.view.wandb_page import WandbPage
from mosaic.contract.manifest import ArtifactManifest
from tests.analytics.wandb_writing import history_record, log_of, some_records, wandb_folder
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove W&B keys and proxies from the environment."""
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def selected(services: Services) -> Iterator[SelectedRun]:
    runs = RunsModel(services)
    yield SelectedRun(services, runs)
    runs.close()
    assert runs.join(10)


@pytest.fixture
def model(services: Services, selected: SelectedRun) -> Iterator[WandbModel]:
    created = WandbModel(services, selected)
    yield created
    created.close()
    assert created.join(10)


@pytest.fixture
def page(qtbot: QtBot, model: WandbModel, theme: ThemeModel) -> WandbPage:
    created = WandbPage(model, theme)
    qtbot.addWidget(created)
    created.resize(750, 560)
    created.show()
    return created


def _submit(link: TrainerLink, *, steps: int = 10, **wandb: Any) -> str:
    config = {
        "worker": "echo_worker",
        "algo": "echo",
        "env_id": "Echo-v0",
        "params": {"steps": steps, "rate": 50.0},
        "artifacts": {"wandb": wandb},
    }
    return link.client.submit(config).run_id


def _displayed(page: QWidget) -> str:
    return " | ".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


def _rows(page: WandbPage) -> dict[str, str]:
    table = page.summary.model()
    return {
        str(table.index(row, 0).data()): str(table.index(row, 1).data())
        for row in range(table.rowCount())
    }


def test_an_offline_run_is_found_while_active(
    qtbot: QtBot,
    page: WandbPage,
    model: WandbModel,
    selected: SelectedRun,
    link: TrainerLink,
    daemon: DaemonUnderTest,
) -> None:
    """Waiting at first; then its values, its upload command and its state."""
    run_id = _submit(link, steps=1_000_000, enabled=True, mode="offline", project="mine")
    selected.select(run_id)
    qtbot.waitUntil(lambda: "Waiting for W&B to start" in _displayed(page), timeout=TIMEOUT_MS)
    records = some_records()
    folder = wandb_folder(daemon.run(run_id).wandb, records[:-1])
    # The page may read the file before all of it is written.
    qtbot.waitUntil(lambda: _rows(page) == {"charts/return": "3"}, timeout=TIMEOUT_MS)
    assert model.phase == "ready"
    displayed = _displayed(page)
    for text in ("CartPole ppo s1", "Offline, not uploaded", "cleanRL", "lab", "3 rows"):
        assert text in displayed
    assert str(folder) in displayed
    assert not page.run_info.open.isEnabled()
    assert "not uploaded" in page.run_info.open.toolTip()
    (folder / "run-abc12345.wandb").write_bytes(
        log_of([*records[:-1], history_record(512, {"charts/length": 20})])
    )
    qtbot.waitUntil(lambda: "4 rows, last step 512" in _displayed(page), timeout=TIMEOUT_MS)
    assert _rows(page) == {"charts/length": "20", "charts/return": "3"}
    page.search.setText("len")
    assert _rows(page) == {"charts/length": "20"}
    page.run_info.sync.copy.click()
    assert QApplication.clipboard().text().endswith(f"sync {folder}")
    with qtbot.waitSignal(page.reveal_requested) as requested:
        page.run_info.show_folder.click()
    assert requested.args == [str(folder)]
    page.table_switch.set_current("config")
    page.table_switch.activated.emit("config")
    assert page.config.isVisible()
    (folder / "run-abc12345.wandb.synced").touch()
    qtbot.waitUntil(lambda: "Uploaded" in page.run_info.state.text(), timeout=TIMEOUT_MS)
    link.client.cancel(run_id)


def test_a_damaged_file_and_a_run_without_files(
    qtbot: QtBot, page: WandbPage, selected: SelectedRun, link: TrainerLink, daemon: DaemonUnderTest
) -> None:
    """Unreadable records are counted; a tracked run without files is reported."""
    run_id = _submit(link, enabled=True, mode="offline")
    selected.select(run_id)
    qtbot.waitUntil(lambda: "No W&B files" in _displayed(page), timeout=TIMEOUT_MS)
    wandb_folder(daemon.run(run_id).wandb, [b"\xff\xff", *some_records()[:-1]])
    page.hide()
    page.show()
    qtbot.waitUntil(lambda: "1 record is damaged" in _displayed(page), timeout=TIMEOUT_MS)
    selected.select("")
    qtbot.waitUntil(lambda: "No run selected" in _displayed(page), timeout=TIMEOUT_MS)
    selected.select(run_id)
    qtbot.waitUntil(lambda: "1 record is damaged" in _displayed(page), timeout=TIMEOUT_MS)


def test_an_untracked_run_shows_how_to_track(
    qtbot: QtBot, page: WandbPage, model: WandbModel, selected: SelectedRun, link: TrainerLink
) -> None:
    """The hint is displayed; the key can be set and the connection tested."""
    assert "No run selected" in _displayed(page)
    selected.select(_submit(link, enabled=False))
    qtbot.waitUntil(
        lambda: "Enable --track and login to use W&B" in _displayed(page), timeout=TIMEOUT_MS
    )
    qtbot.waitUntil(lambda: model.key_is_set is False, timeout=TIMEOUT_MS)
    assert "WANDB_API_KEY is not set" in _displayed(page)
    with qtbot.waitSignal(page.key_requested) as requested:
        page.access.set_key.click()
    assert requested.args == ["WANDB_API_KEY"]
    link.client.set_secret("WANDB_API_KEY", "k" * 40)
    model.refresh_key()
    qtbot.waitUntil(lambda: "WANDB_API_KEY is set" in _displayed(page), timeout=TIMEOUT_MS)
    assert "kkk" not in _displayed(page)


def test_the_connection_is_tested(
    qtbot: QtBot, page: WandbPage, model: WandbModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the proxy of the environment; the button shows progress, then the outcome."""
    monkeypatch.setenv("WANDB_BASE_URL", "https://tracker.invalid")
    monkeypatch.setenv("WANDB_VPN_HTTPS_PROXY", "http://ada:secret@127.0.0.1:1")
    model.changed.emit()
    assert "https://tracker.invalid through the proxy http://127.0.0.1:1" in _displayed(page)
    page.access.test.click()
    assert page.access.test.text() == "Testing…"
    assert not page.access.test.isEnabled()
    qtbot.waitUntil(lambda: "refuses connections on port 1" in _displayed(page), timeout=TIMEOUT_MS)
    assert page.access.test.isEnabled()
    assert "secret" not in _displayed(page)


def test_an_online_run_is_opened(
    qtbot: QtBot,
    page: WandbPage,
    model: WandbModel,
    selected: SelectedRun,
    link: TrainerLink,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Its address and its proxy."""
    address = "https://wandb.ai/lab/cleanRL/runs/abc"
    selected.select(_submit(link, enabled=True))
    qtbot.waitUntil(lambda: selected.is_known, timeout=TIMEOUT_MS)
    monkeypatch.setattr(SelectedRun, "manifest", ArtifactManifest(wandb_url=address))
    monkeypatch.setenv("WANDB_VPN_HTTPS_PROXY", "http://proxy:8080")
    model.changed.emit()
    assert "Online" in _displayed(page)
    assert "The values are on the server" in _displayed(page)
    with qtbot.waitSignal(page.open_requested) as requested:
        page.run_info.open.click()
    assert requested.args == [address, "http://proxy:8080"]
    page.run_info.copy_address.click()
    assert QApplication.clipboard().text() == address
    assert not list(tmp_path.glob("wandb*"))
