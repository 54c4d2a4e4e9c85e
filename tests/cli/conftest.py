"""Fixtures of the command line, each with its own home."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.mosaic_cli import Mosaic


@pytest.fixture
def mosaic(tmp_path: Path) -> Iterator[Mosaic]:
    """On an empty home."""
    made = Mosaic(tmp_path)
    try:
        yield made
    finally:
        made.clean_up()


@pytest.fixture(scope="module")
def shared_mosaic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    """With a running daemon, for tests that do not change the runs of other tests."""
    made = Mosaic(tmp_path_factory.mktemp("shared"))
    try:
        made.ok("daemon", "start")
        yield made
    finally:
        made.clean_up()
