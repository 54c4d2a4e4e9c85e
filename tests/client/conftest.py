"""A real daemon, and a client that is connected to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.client import TrainerClient
from tests.support.daemon import DaemonUnderTest


def echo(**params: Any) -> dict[str, Any]:
    """The configuration of a run of the echo worker."""
    return {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", "params": params}


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """A daemon that serves; ended with all its workers when the test is over."""
    under_test = DaemonUnderTest(tmp_path)
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture
def client(daemon: DaemonUnderTest) -> Iterator[TrainerClient]:
    with TrainerClient.connect(daemon.home) as connected:
        yield connected


@pytest.fixture(scope="module")
def shared_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrainerClient]:
    """One for tests that leave each other's runs alone."""
    under_test = DaemonUnderTest(tmp_path_factory.mktemp("shared"))
    try:
        assert under_test.start().startswith("ready ")
        with TrainerClient.connect(under_test.home) as connected:
            yield connected
    finally:
        under_test.clean_up()
