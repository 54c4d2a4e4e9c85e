"""A real daemon, and a client that is connected to it."""

from collections.abc import Iterator
from typing import Any

import pytest

from mosaic.client import TrainerClient
from tests.support.daemon import DaemonUnderTest
from tests.support.daemon_pool import DaemonPool


def echo(**params: Any) -> dict[str, Any]:
    """Return the configuration of a run of the echo worker."""
    return {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", "params": params}


@pytest.fixture
def daemon(daemon_pool: DaemonPool) -> Iterator[DaemonUnderTest]:
    """A running daemon, which a test may stop or kill."""
    with daemon_pool.daemon("plain") as under_test:
        yield under_test


@pytest.fixture
def client(daemon: DaemonUnderTest) -> Iterator[TrainerClient]:
    with TrainerClient.connect(daemon.home) as connected:
        yield connected


@pytest.fixture(scope="module")
def shared_client(daemon_pool: DaemonPool) -> Iterator[TrainerClient]:
    """A client for tests that do not change each other's runs."""
    with (
        daemon_pool.daemon("plain") as under_test,
        TrainerClient.connect(under_test.home) as connected,
    ):
        yield connected
