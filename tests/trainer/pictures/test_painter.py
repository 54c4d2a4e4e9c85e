"""A painter whose environment hangs is given up, and says so."""

import os
import sys
from pathlib import Path

import pytest

import mosaic_worker
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.simulation.helper_process import ScratchFolders
from mosaic.trainer.simulation.runtime import SimulationRuntime
from mosaic.trainer.thumbnails.render_process import Painter

pytestmark = pytest.mark.process


def test_an_environment_that_hangs(tmp_path: Path) -> None:
    """After the time that is allowed there is an error, and the painter is of no more use."""
    folders = (Path(mosaic_worker.__file__).parents[1], Path(__file__).parent)
    runtime = SimulationRuntime(Path(sys.executable), folders)
    painter = Painter(runtime, ScratchFolders(Home(tmp_path)), os.environ, patience_s=0.5)
    try:
        with pytest.raises(UserError, match="not drawn within") as caught:
            painter.draw("drawn_environments:Hard-v0", {"does": "hang"}, 0)
        assert caught.value.code == "T474"
        assert not painter.is_usable
    finally:
        painter.close()


def test_a_python_that_is_gone(tmp_path: Path) -> None:
    """What cannot be started is told with a remedy."""
    runtime = SimulationRuntime(tmp_path / "no python", ())
    with pytest.raises(UserError, match="No picture could be drawn") as caught:
        Painter(runtime, ScratchFolders(Home(tmp_path)), os.environ, patience_s=60.0)
    assert caught.value.code == "T475"
