"""The token file is private, and the token is new at each start."""

import os
import stat
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.service.server import issue_token


def test_each_token_is_new_and_private(tmp_path: Path) -> None:
    """Only the owner can read the file, for any umask and mode of the previous file."""
    path = tmp_path / "token"
    path.write_text("x" * 50)
    path.chmod(0o644)
    previous = os.umask(0)
    try:
        first, second = issue_token(path), issue_token(path)
    finally:
        os.umask(previous)
    assert first != second
    assert len(second) >= 43
    assert path.read_text() == f"{second}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]


def test_a_symlink_is_replaced(tmp_path: Path) -> None:
    """The target of the link is not changed."""
    path, other = tmp_path / "token", tmp_path / "other"
    other.write_text("x" * 50)
    for target in (other, tmp_path / "missing"):
        path.symlink_to(target)
        assert len(issue_token(path)) >= 43
        assert not path.is_symlink()
        path.unlink()
    assert other.read_text() == "x" * 50


def test_a_folder_instead_of_the_file(tmp_path: Path) -> None:
    """The error names the file and has a remedy."""
    (tmp_path / "token").mkdir()
    with pytest.raises(UserError, match="token") as caught:
        issue_token(tmp_path / "token")
    assert "Remove" in caught.value.remedy
