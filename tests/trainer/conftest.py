"""A real daemon for each test that asks for one."""

from collections.abc import Iterator

import pytest

from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool


@pytest.fixture
def daemon(daemon_pool: DaemonPool) -> Iterator[DaemonUnderTest]:
    """A daemon that serves. A test may do anything to it."""
    with daemon_pool.daemon("plain") as under_test:
        yield under_test
