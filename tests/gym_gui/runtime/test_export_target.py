"""Exports get names that every disk takes, and a copy that fails leaves nothing behind."""

import shutil
from pathlib import Path

import pytest

from gym_gui.run_page.feed.run_overview import copy_to_folder
from gym_gui.runtime.export_target import free_target
from mosaic.contract.errors import UserError


def test_any_title_becomes_a_file_name(tmp_path: Path) -> None:
    """However long it is, and whatever is in it; the second one gets a number."""
    for title in ("é" * 300, "a/b\\c\0d\ne", " .. ", ""):
        first = free_target(tmp_path, title, "csv")
        first.touch()
        second = free_target(tmp_path, title, "csv")
        second.touch()
        assert first.parent == second.parent == tmp_path
        assert second.name.endswith("(2).csv")


def test_half_a_copy_is_removed(tmp_path: Path) -> None:
    """The first file that failed is named; what was copied before it is gone."""
    source = tmp_path / "wandb"
    source.mkdir()
    (source / "a").write_text("whole")
    (source / "b").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"wandb cannot be copied: \[Errno 2\]"):
        copy_to_folder(source, tmp_path / "exports", "copy")
    assert list((tmp_path / "exports").iterdir()) == []
    (source / "b").unlink()
    assert copy_to_folder(source, tmp_path / "exports", "copy").is_dir()
    shutil.rmtree(source)
    with pytest.raises(UserError, match="cannot be copied"):
        copy_to_folder(source, tmp_path / "exports", "gone")
