"""Launcher without a daemon: presets, files and the default proxy."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.training.feed.launcher import Launcher, proxy_from_environment
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS


@pytest.fixture
def owner() -> QObject:
    return QObject()


@pytest.fixture
def launcher(tmp_path: Path, tasks: Tasks) -> Launcher:
    return Launcher(TrainerLink(Home(tmp_path)), tasks)


def test_deleting_a_preset(
    qtbot: QtBot, launcher: Launcher, owner: QObject, tmp_path: Path
) -> None:
    """The deleted preset is returned, so that it can be restored."""
    results: list[Any] = []
    config = {"worker": "a", "algo": "x", "env_id": "CartPole-v1"}
    launcher.save_preset(owner, "mine", config, results.append, results.append)
    qtbot.waitUntil(lambda: len(results) == 1, timeout=TIMEOUT_MS)
    launcher.delete_preset(owner, "mine", results.append, results.append)
    qtbot.waitUntil(lambda: len(results) == 2, timeout=TIMEOUT_MS)
    assert results[1] == config
    assert not list(Home(tmp_path).presets.glob("*.json"))
    launcher.delete_preset(owner, "mine", results.append, results.append)
    qtbot.waitUntil(lambda: len(results) == 3, timeout=TIMEOUT_MS)
    assert isinstance(results[2], UserError)


def test_presets_of_a_worker_and_an_environment(
    qtbot: QtBot, launcher: Launcher, owner: QObject, tmp_path: Path
) -> None:
    """Presets of other workers, of other environments and invalid files are skipped."""
    results: list[Any] = []
    config = {"worker": "a", "algo": "x", "env_id": "CartPole-v1", "params": {"gamma": 0.9}}
    others = [config | {"worker": "b"}, config | {"env_id": "Acrobot-v1"}]
    for name, document in zip(("mine", "worker", "env"), (config, *others), strict=True):
        launcher.save_preset(owner, name, document, results.append, results.append)
    qtbot.waitUntil(lambda: len(results) == 3, timeout=TIMEOUT_MS)
    (Home(tmp_path).presets / "broken.json").write_text("{")
    launcher.presets_for(owner, "a", "CartPole-v1", results.append)
    qtbot.waitUntil(lambda: len(results) == 4, timeout=TIMEOUT_MS)
    assert results[3] == ("mine",)
    launcher.load_preset(owner, "mine", results.append, results.append)
    launcher.load_preset(owner, "absent", results.append, results.append)
    qtbot.waitUntil(lambda: len(results) == 6, timeout=TIMEOUT_MS)
    assert config in results
    assert any(isinstance(result, UserError) for result in results)


def test_files_that_cannot_be_accessed(
    qtbot: QtBot, launcher: Launcher, owner: QObject, tmp_path: Path
) -> None:
    """Both errors name the file and a remedy."""
    errors: list[UserError] = []
    launcher.read_file(owner, str(tmp_path / "absent.json"), lambda _: None, errors.append)
    launcher.write_file(
        owner, str(tmp_path / "no" / "folder.json"), b"{}", lambda _: None, errors.append
    )
    qtbot.waitUntil(lambda: len(errors) == 2, timeout=TIMEOUT_MS)
    assert all("json" in error.message for error in errors)
    assert all(error.remedy for error in errors)


def test_the_proxy_from_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its password is removed."""
    monkeypatch.delenv("WANDB_VPN_HTTPS_PROXY", raising=False)
    monkeypatch.delenv("WANDB_VPN_HTTP_PROXY", raising=False)
    assert proxy_from_environment() == ""
    monkeypatch.setenv("WANDB_VPN_HTTP_PROXY", "http://me:hidden@proxy:3128")
    assert proxy_from_environment() == "http://proxy:3128"


def test_an_invalid_proxy_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ignored, and the other variable is used."""
    monkeypatch.setenv("WANDB_VPN_HTTPS_PROXY", "http://host:port")
    monkeypatch.delenv("WANDB_VPN_HTTP_PROXY", raising=False)
    assert proxy_from_environment() == ""
    monkeypatch.setenv("WANDB_VPN_HTTP_PROXY", "http://me:secret@host:8080")
    assert proxy_from_environment() == "http://host:8080"
