"""Bundles of workers for benchmarks: installed once and reused."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from throwaway_daemon import run_daemon, throwaway_home

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_CACHE_HOME = Home(Path(__file__).parents[1] / ".venv-setup" / "bundles-for-tests")
"""Shared with the tests, therefore installed with the same extras."""

_EXTRAS = {
    "session_worker": ["mujoco"],
    "cleanrl_worker": ["atari", "mujoco", "video", "wandb", "hub"],
    "cleanrl_upstream": ["sb3"],
    "spade_bdi_rl_worker": ["minigrid"],
}


def bundle_python(name: str = "session_worker") -> Path:
    """Return the Python interpreter of the bundle."""
    info = BundleStore(_CACHE_HOME, WorkerCatalog()).install(name, _EXTRAS[name])
    return _CACHE_HOME.path / info.path / "bin" / "python"


@contextmanager
def daemon_with_bundle(
    name: str = "session_worker", options: Sequence[str] = ()
) -> Iterator[tuple[TrainerClient, Home]]:
    """Yield a client and the home of a temporary daemon; only the bundle remains afterwards."""
    bundle_python(name)
    with throwaway_home() as home:
        home.trainer.mkdir(parents=True, mode=0o700)
        home.venvs.symlink_to(_CACHE_HOME.venvs)
        with run_daemon(home, options) as client:
            yield client, home
