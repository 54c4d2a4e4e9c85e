"""What all tests share: no deadlines, and the bundle of the session worker, installed once."""

import warnings
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from mosaic.contract.layout import Home
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("no deadlines", deadline=None)
hypothesis.settings.load_profile("no deadlines")

# Kept between test runs beside the checkout's own environment: it is immutable, and takes a while.
_KEPT = Path(__file__).parents[1] / ".venv-setup" / "bundles-for-tests"


@pytest.fixture(scope="session")
def session_venvs() -> Path:
    """A `venvs` folder in which the bundle session_worker is ready, with every extra."""
    kept = Home(_KEPT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages whose metadata are read
        # Tests that run at the same time wait for the one that installs.
        BundleStore(kept, WorkerCatalog()).install("session_worker", ["mujoco"])
    return kept.venvs


@pytest.fixture(scope="session")
def give_session_bundle(session_venvs: Path) -> Callable[[Home], None]:
    """Lets a home that has no bundles yet use the one of all tests."""

    def give(home: Home) -> None:
        home.trainer.mkdir(parents=True, exist_ok=True, mode=0o700)
        home.venvs.symlink_to(session_venvs)

    return give
