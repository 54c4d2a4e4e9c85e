"""A real daemon for each test that asks for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import DaemonUnderTest


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """A daemon that serves; ended with all its workers when the test is over."""
    under_test = DaemonUnderTest(tmp_path)
    try:
        line = under_test.start()
        assert line.startswith("ready "), line
        yield under_test
    finally:
        under_test.clean_up()
