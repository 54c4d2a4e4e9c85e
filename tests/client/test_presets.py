"""Presets are saved and loaded by name, and never refer to files outside of their folder."""

from pathlib import Path

import pytest

from mosaic.client.presets import (
    PresetError,
    list_presets,
    load_preset,
    make_preset,
    save_preset,
    to_preset_name,
)
from mosaic.contract.layout import Home

CONFIG = {"worker": "w", "algo": "a", "env_id": "E-v0", "params": {"x": 1}}


def test_preset_is_saved_by_name_and_loaded_from_any_file(tmp_path: Path) -> None:
    """Only fields that other runs can share are saved."""
    home = Home(tmp_path / "home")
    config = {**CONFIG, "run_name": "mine", "seed": 3, "parent_run": "x", "bundle": None}
    assert make_preset(config) == CONFIG
    path = save_preset(home, "good-one", CONFIG)
    assert load_preset(home, "good-one") == CONFIG
    assert load_preset(Home(tmp_path), str(path)) == CONFIG
    assert list_presets(home) == ["good-one"]
    save_preset(home, "good-one", {**CONFIG, "seed": 1})
    assert load_preset(home, "good-one")["seed"] == 1


def test_missing_preset_is_reported_with_suggestion(tmp_path: Path) -> None:
    """A misspelt name has a suggestion."""
    home = Home(tmp_path)
    save_preset(home, "lunar", CONFIG)
    with pytest.raises(PresetError, match="no preset 'luna'") as raised:
        load_preset(home, "luna")
    assert "lunar" in raised.value.remedy
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "text.json").write_text("{")
    for name in ("list", "text"):
        with pytest.raises(PresetError, match=f"{name}.json"):
            load_preset(home, str(tmp_path / f"{name}.json"))


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "x" * 101, "a b"])
def test_preset_name_is_sanitized(tmp_path: Path, name: str) -> None:
    """Other names are rejected and can be sanitized."""
    with pytest.raises(PresetError):
        save_preset(Home(tmp_path), name, CONFIG)
    assert (
        save_preset(Home(tmp_path), to_preset_name(name), CONFIG).parent == Home(tmp_path).presets
    )
