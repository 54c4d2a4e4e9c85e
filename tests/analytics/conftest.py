"""TensorBoard itself, from the bundle of the CleanRL worker."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mosaic.analytics.tensorboard_program import TensorBoardProgram, find_tensorboard
from mosaic.contract.layout import Home

_READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()
points = {tag: [[p.step, p.wall_time, p.value] for p in events.Scalars(tag)]
          for tag in events.Tags()["scalars"]}
print(json.dumps(points))
"""


@pytest.fixture(scope="session")
def program(
    tmp_path_factory: pytest.TempPathFactory, give_bundles: Callable[..., None]
) -> TensorBoardProgram:
    """TensorBoard as found in a home with that bundle."""
    home = Home(tmp_path_factory.mktemp("with_bundle") / "home")
    give_bundles(home, "cleanrl_worker")
    return find_tensorboard(home)


@pytest.fixture(scope="session")
def run_there(program: TensorBoardProgram) -> Callable[..., str]:
    """Run Python code where TensorBoard is installed, and return its output."""

    def run(code: str, *arguments: str) -> str:
        command = [str(program.python), "-I", "-W", "ignore", "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def read_by_tensorboard(run_there: Callable[..., str]) -> Callable[[Path], dict[str, Any]]:
    """Return `[step, time, value]` of each tag with TensorBoard's own reader."""

    def read(folder: Path) -> dict[str, Any]:
        read_points: dict[str, Any] = json.loads(run_there(_READ, str(folder)))
        return read_points

    return read
