"""Presets, files and proxies: what launching needs besides the daemon."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.training.feed.launching import Launcher, proxy_of_environment
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS


@pytest.fixture
def owner() -> QObject:
    return QObject()


@pytest.fixture
def launcher(tmp_path: Path, tasks: Tasks) -> Launcher:
    return Launcher(TrainerLink(Home(tmp_path)), tasks)


def test_a_preset_that_is_deleted(
    qtbot: QtBot, launcher: Launcher, owner: QObject, tmp_path: Path
) -> None:
    """It is gone, and what was in it is handed back, so that it can be undone."""
    told: list[Any] = []
    config = {"worker": "a", "algo": "x", "env_id": "CartPole-v1"}
    launcher.save_preset(owner, "mine", config, told.append, told.append)
    qtbot.waitUntil(lambda: len(told) == 1, timeout=PATIENCE_MS)
    launcher.delete_preset(owner, "mine", told.append, told.append)
    qtbot.waitUntil(lambda: len(told) == 2, timeout=PATIENCE_MS)
    assert told[1] == config
    assert not list(Home(tmp_path).presets.glob("*.json"))
    launcher.delete_preset(owner, "mine", told.append, told.append)
    qtbot.waitUntil(lambda: len(told) == 3, timeout=PATIENCE_MS)
    assert isinstance(told[2], UserError)


def test_presets_of_a_worker_and_an_environment(
    qtbot: QtBot, launcher: Launcher, owner: QObject, tmp_path: Path
) -> None:
    """Others, and files that are none, are left out."""
    told: list[Any] = []
    config = {"worker": "a", "algo": "x", "env_id": "CartPole-v1", "params": {"gamma": 0.9}}
    others = [config | {"worker": "b"}, config | {"env_id": "Acrobot-v1"}]
    for name, document in zip(("mine", "worker", "env"), (config, *others), strict=True):
        launcher.save_preset(owner, name, document, told.append, told.append)
    qtbot.waitUntil(lambda: len(told) == 3, timeout=PATIENCE_MS)
    (Home(tmp_path).presets / "broken.json").write_text("{")
    launcher.presets_for(owner, "a", "CartPole-v1", told.append)
    qtbot.waitUntil(lambda: len(told) == 4, timeout=PATIENCE_MS)
    assert told[3] == ("mine",)
    launcher.load_preset(owner, "mine", told.append, told.append)
    launcher.load_preset(owner, "absent", told.append, told.append)
    qtbot.waitUntil(lambda: len(told) == 6, timeout=PATIENCE_MS)
    assert config in told
    assert any(isinstance(each, UserError) for each in told)


def test_files_that_cannot_be_used(
    qtbot: QtBot, launcher: Launcher, owner: QObject, tmp_path: Path
) -> None:
    """Both say so, and what to do."""
    told: list[UserError] = []
    launcher.read_file(owner, str(tmp_path / "absent.json"), lambda _: None, told.append)
    launcher.write_file(
        owner, str(tmp_path / "no" / "folder.json"), b"{}", lambda _: None, told.append
    )
    qtbot.waitUntil(lambda: len(told) == 2, timeout=PATIENCE_MS)
    assert all("json" in error.message for error in told)
    assert all(error.remedy for error in told)


def test_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its password never gets into a configuration."""
    monkeypatch.delenv("WANDB_VPN_HTTPS_PROXY", raising=False)
    monkeypatch.delenv("WANDB_VPN_HTTP_PROXY", raising=False)
    assert proxy_of_environment() == ""
    monkeypatch.setenv("WANDB_VPN_HTTP_PROXY", "http://me:hidden@proxy:3128")
    assert proxy_of_environment() == "http://proxy:3128"


def test_a_proxy_that_is_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as none, and the other one is used."""
    monkeypatch.setenv("WANDB_VPN_HTTPS_PROXY", "http://host:port")
    monkeypatch.delenv("WANDB_VPN_HTTP_PROXY", raising=False)
    assert proxy_of_environment() == ""
    monkeypatch.setenv("WANDB_VPN_HTTP_PROXY", "http://me:secret@host:8080")
    assert proxy_of_environment() == "http://host:8080"
