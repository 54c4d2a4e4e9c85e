"""`mosaic` as a person runs it, on a home of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.mosaic_cli import Mosaic


@pytest.fixture
def mosaic(tmp_path: Path) -> Iterator[Mosaic]:
    """On a home where nothing has happened yet."""
    made = Mosaic(tmp_path)
    try:
        yield made
    finally:
        made.clean_up()


@pytest.fixture(scope="module")
def shared_mosaic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    """With a daemon that runs, for tests that leave each other's runs alone."""
    made = Mosaic(tmp_path_factory.mktemp("shared"))
    try:
        made.ok("daemon", "start")
        yield made
    finally:
        made.clean_up()
