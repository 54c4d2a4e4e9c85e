"""A path from a client or a worker never resolves to outside of the run directory."""

import os
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.regular_files import open_regular
from mosaic.trainer.artifacts.run_tree import resolve_inside
from tests.trainer.artifacts.conftest import put


@pytest.mark.parametrize("path", ["config.json", "./config.json", "a/../config.json", "not/yet"])
def test_paths_inside(run: RunDirectory, path: str) -> None:
    """A path of the run is resolved, whether it exists or not."""
    assert resolve_inside(run, path) == Path(os.path.realpath(run.path / path))


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "a/../../b", "a\0b", "../" * 50])
def test_paths_outside(run: RunDirectory, path: str) -> None:
    """Dots, absolute paths and NUL bytes are rejected with a remedy."""
    with pytest.raises(UserError, match="is outside") as caught:
        resolve_inside(run, path)
    assert caught.value.code == "T360"
    assert caught.value.remedy


def test_a_sibling_with_the_same_prefix_is_outside(run: RunDirectory) -> None:
    """`<run>-other` is not below `<run>`."""
    sibling = run.path.with_name(run.path.name + "-other")
    sibling.mkdir()
    with pytest.raises(UserError, match="T360"):
        resolve_inside(run, f"../{sibling.name}/x")


def test_links(run: RunDirectory, tmp_path: Path) -> None:
    """A link to outside is rejected, for files and folders; one inside the run is followed."""
    put(run, "a/real.txt")
    (run.path / "link.txt").symlink_to("a/real.txt")
    assert resolve_inside(run, "link.txt") == Path(os.path.realpath(run.path / "a/real.txt"))
    (run.path / "out").symlink_to(tmp_path)
    (run.path / "again").symlink_to("out")
    for path in ("out", "out/x", "again/x"):
        with pytest.raises(UserError, match="T360"):
            resolve_inside(run, path)


def test_only_regular_files_are_opened(run: RunDirectory) -> None:
    """FIFOs, folders and links are rejected without blocking."""
    os.mkfifo(run.path / "fifo")
    (run.path / "link").symlink_to("config.json")
    for name in ("fifo", "link", ".", "missing"):
        with pytest.raises(
            OSError, match=r"\[Errno" if name == "missing" else "not a regular file"
        ):
            open_regular(run.path / name)
    descriptor = open_regular(run.config)
    assert os.read(descriptor, 1) == b"{"
    os.close(descriptor)
