"""Names of exports are valid on all file systems; a failed copy is removed."""

import shutil
from pathlib import Path

import pytest

from gym_gui.run_page.feed.run_overview import copy_to_folder
from gym_gui.runtime.export_target import free_target
from mosaic.contract.errors import UserError


def test_any_title_becomes_a_file_name(tmp_path: Path) -> None:
    """Of any length and content; the second export of a name gets a number."""
    for title in ("é" * 300, "a/b\\c\0d\ne", " .. ", ""):
        first = free_target(tmp_path, title, "csv")
        first.touch()
        second = free_target(tmp_path, title, "csv")
        second.touch()
        assert first.parent == second.parent == tmp_path
        assert second.name.endswith("(2).csv")


def test_an_incomplete_copy_is_removed(tmp_path: Path) -> None:
    """The error names the first file that failed; copied files are deleted."""
    source = tmp_path / "wandb"
    source.mkdir()
    (source / "a").write_text("complete")
    (source / "b").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"wandb cannot be copied: \[Errno 2\]"):
        copy_to_folder(source, tmp_path / "exports", "copy")
    assert list((tmp_path / "exports").iterdir()) == []
    (source / "b").unlink()
    assert copy_to_folder(source, tmp_path / "exports", "copy").is_dir()
    shutil.rmtree(source)
    with pytest.raises(UserError, match="cannot be copied"):
        copy_to_folder(source, tmp_path / "exports", "gone")
