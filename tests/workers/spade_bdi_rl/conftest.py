"""The Python of the Spade BDI worker's bundle, for tests inside it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def spade_python(installed_bundle: Callable[[str], Path]) -> Path:
    """The Python of the worker's bundle, with every extra that its tests need."""
    venvs = installed_bundle("spade_bdi_rl_worker")
    (python,) = [
        folder / "bin" / "python"
        for folder in venvs.iterdir()
        if folder.name.startswith("spade_bdi_rl_worker-") and (folder / "bin" / "python").exists()
    ]
    return python


@pytest.fixture(scope="session")
def inside_spade() -> dict[str, str]:
    """For processes of that Python: the worker, the SDK and the tests on their path."""
    worker = ROOT / "workers" / "spade_bdi_rl_worker"
    folders = [ROOT / "worker_sdk" / "src", worker / "src", worker / "tests" / "with_spade"]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "OMP_NUM_THREADS": "1",
        "SDL_VIDEODRIVER": "dummy",
    }
