"""A throwaway daemon with the bundle of the session worker, which is kept for the next time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from throwaway_daemon import serving, throwaway_home

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_KEPT = Path(__file__).parents[1] / ".venv-setup" / "bundles-for-tests"
"""Shared with the tests, and so installed with the same extras."""


def session_python() -> Path:
    """The interpreter of the bundle."""
    kept = Home(_KEPT)
    info = BundleStore(kept, WorkerCatalog()).install("session_worker", ["mujoco"])
    return kept.path / info.path / "bin" / "python"


@contextmanager
def session_daemon() -> Iterator[tuple[TrainerClient, Home]]:
    """A client of the daemon, and its home; all but the bundle is gone afterwards."""
    kept = Home(_KEPT)
    BundleStore(kept, WorkerCatalog()).install("session_worker", ["mujoco"])
    with throwaway_home() as home:
        home.trainer.mkdir(parents=True, mode=0o700)
        home.venvs.symlink_to(kept.venvs)
        with serving(home) as client:
            yield client, home
