"""`sync_tree`: everything is flushed, files before the folders that name them."""

import os
from pathlib import Path

import pytest

from mosaic.contract import atomic_file
from mosaic.contract.atomic_file import sync_tree


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were flushed, in order; `*` for all of the machine."""
    paths: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda fd: paths.append(str(Path(f"/proc/self/fd/{fd}").readlink()))
    )
    monkeypatch.setattr(os, "sync", lambda: paths.append("*"))
    return paths


def test_every_file_and_folder_is_flushed(tmp_path: Path, synced: list[str]) -> None:
    """A folder is flushed after its content."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    files = [tmp_path / name for name in ("1", "a/2", "a/b/3")]
    for file in files:
        file.write_text("x")
    sync_tree(tmp_path)
    assert {Path(path) for path in synced[:3]} == set(files)
    assert [Path(path) for path in synced[3:]] == [tmp_path / "a/b", tmp_path / "a", tmp_path]


def test_many_files_are_flushed_at_once(
    tmp_path: Path, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flushing each file would take minutes."""
    monkeypatch.setattr(atomic_file, "_MAX_SYNCED_FILES", 2)
    for number in range(3):
        (tmp_path / str(number)).touch()
    sync_tree(tmp_path)
    assert synced == ["*"]
