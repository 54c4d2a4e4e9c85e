"""A real daemon for each test that uses the fixture."""

from collections.abc import Iterator

import pytest

from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool


@pytest.fixture
def daemon(daemon_pool: DaemonPool) -> Iterator[DaemonUnderTest]:
    """A running daemon that a test may change in any way."""
    with daemon_pool.daemon("plain") as under_test:
        yield under_test
