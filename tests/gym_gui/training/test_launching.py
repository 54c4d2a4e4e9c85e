"""The calls of the training dock that need no daemon: presets, files and the default proxy."""

from pathlib import Path

import pytest

from gym_gui.training.feed.launching import (
    delete_preset,
    load_preset,
    presets_for,
    proxy_from_environment,
    read_config_file,
    save_preset,
)
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home


def test_deleting_a_preset(tmp_path: Path) -> None:
    """The deleted preset is returned, so that it can be restored."""
    home = Home(tmp_path)
    config = {"worker": "a", "algo": "x", "env_id": "CartPole-v1"}
    save_preset(home, "mine", config)
    assert delete_preset(home, "mine") == config
    assert not list(home.presets.glob("*.json"))
    with pytest.raises(UserError):
        delete_preset(home, "mine")


def test_presets_of_a_worker_and_an_environment(tmp_path: Path) -> None:
    """Presets of other workers, of other environments and invalid files are skipped."""
    home = Home(tmp_path)
    config = {"worker": "a", "algo": "x", "env_id": "CartPole-v1", "params": {"gamma": 0.9}}
    others = [config | {"worker": "b"}, config | {"env_id": "Acrobot-v1"}]
    for name, document in zip(("mine", "worker", "env"), (config, *others), strict=True):
        save_preset(home, name, document)
    (home.presets / "broken.json").write_text("{")
    assert presets_for(home, "a", "CartPole-v1") == ("mine",)
    assert load_preset(home, "mine") == config
    with pytest.raises(UserError):
        load_preset(home, "absent")


def test_files_that_cannot_be_accessed(tmp_path: Path) -> None:
    """Both errors name the file and a remedy."""
    with pytest.raises(UserError, match=r"absent\.json") as caught:
        read_config_file(tmp_path / "absent.json")
    assert caught.value.remedy
    with pytest.raises(UserError, match=r"folder\.json") as caught:
        write_atomically(tmp_path / "no" / "folder.json", b"{}")
    assert caught.value.remedy


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
