"""The bundles that tests use: one virtual environment of each worker, installed before the tests.

`python -m tests.support.bundles` installs what is missing. `./test` runs it first, so that no test
waits for an installation.
"""

import sys
import warnings
from pathlib import Path

from mosaic.contract.layout import Home
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

HOME = Home(Path(__file__).parents[2] / ".venv-setup" / "bundles-for-tests")
"""Stays between test runs: a bundle is immutable, and takes minutes to install."""

EXTRAS = {
    "session_worker": ("mujoco",),
    "cleanrl_worker": ("atari", "mujoco", "video", "wandb", "hub"),
    "cleanrl_upstream": ("sb3",),
    "sweep_worker": (),
    "spade_bdi_rl_worker": ("minigrid",),
}
"""With one set of extras for all tests a bundle is installed once; it serves runs with fewer."""


def install(name: str) -> Path:
    """Install the bundle of that name unless it is there; returns its `venvs` folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages whose metadata are read
        # Processes that install at the same time wait for each other.
        BundleStore(HOME, WorkerCatalog()).install(name, list(EXTRAS[name]))
    return HOME.venvs


def main() -> int:
    for name in EXTRAS:
        install(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
