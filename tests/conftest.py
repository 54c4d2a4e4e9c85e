"""What all tests share: no deadlines, and the workers' bundles, each installed once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from mosaic.contract.layout import Home
from tests.support.bundles import install
from tests.support.daemon_pool import DaemonPool

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("usual", deadline=None, max_examples=40)
hypothesis.settings.register_profile("all", deadline=None, max_examples=400)
hypothesis.settings.load_profile("usual")


def pytest_configure(config: pytest.Config) -> None:
    """`./test --all` tries more examples of everything."""
    if config.getoption("--all"):
        hypothesis.settings.load_profile("all")


@pytest.fixture(scope="session")
def installed_bundle() -> Callable[[str], Path]:
    """Installs the bundle of that name, unless it is there; returns its `venvs` folder."""
    return install


@pytest.fixture(scope="session")
def give_bundles(installed_bundle: Callable[[str], Path]) -> Callable[..., None]:
    """`give_bundles(home, "session_worker", …)` lets a home without bundles use those of all."""

    def give(home: Home, *names: str) -> None:
        home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in names:
            venvs = installed_bundle(name)
            if not home.venvs.is_symlink():
                home.venvs.symlink_to(venvs)

    return give


@pytest.fixture(scope="session")
def give_session_bundle(give_bundles: Callable[..., None]) -> Callable[[Home], None]:
    """Lets a home that has no bundles yet use the one of all tests."""
    return lambda home: give_bundles(home, "session_worker")


@pytest.fixture(scope="session")
def daemon_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonPool]:
    """Daemons that serve one test after the other."""
    pool = DaemonPool(lambda: tmp_path_factory.mktemp("daemon"))
    yield pool
    pool.close()
