"""What all tests share: no deadlines, and the workers' bundles, each installed once."""

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

_EXTRAS = {
    "session_worker": ("mujoco",),
    "cleanrl_worker": ("atari", "mujoco", "video", "wandb", "hub"),
    "cleanrl_upstream": ("sb3",),
    "sweep_worker": (),
    "spade_bdi_rl_worker": ("minigrid",),
}
"""With one set of extras for all tests a bundle is installed once; it serves runs with fewer."""


@pytest.fixture(scope="session")
def installed_bundle() -> Callable[[str], Path]:
    """Installs the bundle of that name, unless it is there; returns its `venvs` folder."""

    def install(name: str) -> Path:
        kept = Home(_KEPT)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of packages whose metadata are read
            # Tests that run at the same time wait for the one that installs.
            BundleStore(kept, WorkerCatalog()).install(name, list(_EXTRAS[name]))
        return kept.venvs

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
