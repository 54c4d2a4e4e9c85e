"""RenderProcess: timeouts and start failures."""

import os
import sys
from pathlib import Path

import pytest

import mosaic_worker
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.simulation.helper_process import ScratchFolders
from mosaic.trainer.simulation.runtime import SimulationRuntime
from mosaic.trainer.thumbnails.render_process import RenderProcess

pytestmark = pytest.mark.process


def test_an_environment_that_hangs(tmp_path: Path) -> None:
    """The timeout raises an error, and the process is no longer usable."""
    folders = (Path(mosaic_worker.__file__).parents[1], Path(__file__).parent)
    runtime = SimulationRuntime(Path(sys.executable), folders)
    process = RenderProcess(runtime, ScratchFolders(Home(tmp_path)), os.environ, timeout_s=0.5)
    try:
        with pytest.raises(UserError, match="not rendered within") as caught:
            process.render("faulty_environments:Faulty-v0", {"fault": "hang"}, 0)
        assert caught.value.code == "T474"
        assert not process.is_usable
    finally:
        process.close()


def test_a_missing_interpreter(tmp_path: Path) -> None:
    """A process that cannot be started is reported with a remedy."""
    runtime = SimulationRuntime(tmp_path / "no python", ())
    with pytest.raises(UserError, match="No thumbnail could be rendered") as caught:
        RenderProcess(runtime, ScratchFolders(Home(tmp_path)), os.environ, timeout_s=60.0)
    assert caught.value.code == "T475"
