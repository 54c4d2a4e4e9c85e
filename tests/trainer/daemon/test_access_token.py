"""The token's file: made once, private, and replaced when it cannot be trusted."""

import os
import stat
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.trainer.service.access_token import load_token


def test_made_once_and_private(tmp_path: Path) -> None:
    """The same one each time, readable by its owner alone, whatever the umask."""
    previous = os.umask(0)
    try:
        token = load_token(tmp_path / "token")
    finally:
        os.umask(previous)
    assert len(token) >= 43
    assert load_token(tmp_path / "token") == token
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff" * 50, b"two words " * 5 + b"\n\0"])
def test_a_damaged_one_is_replaced(tmp_path: Path, content: bytes) -> None:
    """An empty or mangled token would lock everybody out, or let everybody in."""
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    assert len(load_token(path)) >= 43


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_one_that_others_could_read_is_replaced(tmp_path: Path, mode: int) -> None:
    """It may be known, so it is worth nothing."""
    path = tmp_path / "token"
    old = load_token(path)
    path.chmod(mode)
    assert load_token(path) != old
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_in_its_place_is_replaced(tmp_path: Path) -> None:
    """Also one that leads nowhere; what it leads to stays as it is."""
    path, other = tmp_path / "token", tmp_path / "other"
    other.write_text("x" * 50)
    for target in (other, tmp_path / "nowhere"):
        path.symlink_to(target)
        assert len(load_token(path)) >= 43
        assert not path.is_symlink()
        path.unlink()
    assert other.read_text() == "x" * 50


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    """Told, with what to do."""
    (tmp_path / "token").mkdir()
    with pytest.raises(UserError, match="token") as caught:
        load_token(tmp_path / "token")
    assert "Remove" in caught.value.remedy
