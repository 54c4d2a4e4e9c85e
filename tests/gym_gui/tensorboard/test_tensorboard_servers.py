"""The TensorBoards of a window: one for the same folders, and none that outlives it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.tensorboard.feed.tensorboard_servers import (
    ServerState,
    TensorBoardProgram,
    TensorBoardServers,
    find_tensorboard,
)
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS

pytestmark = pytest.mark.process


@pytest.fixture
def program(tmp_path: Path, give_bundles: Callable[..., None]) -> TensorBoardProgram:
    home = Home(tmp_path / "home")
    give_bundles(home, "cleanrl_worker")
    return find_tensorboard(home)


def test_one_for_the_same_folders(
    qtbot: QtBot, pulse: UiTicker, tmp_path: Path, program: TensorBoardProgram
) -> None:
    """Asked for again it is the one that is there; closing ends all of them."""
    servers = TensorBoardServers(pulse)
    first = servers.open(program, {"a": tmp_path})
    assert servers.open(program, {"renamed": tmp_path}) is first
    missing = servers.open(program, {"gone": tmp_path / "gone"})
    qtbot.waitUntil(lambda: missing.state is ServerState.FAILED, timeout=PATIENCE_MS)
    assert servers.servers == (first, missing)
    again = servers.open(program, {"gone": tmp_path / "gone"})
    assert servers.servers == (first, again)
    servers.stop(again)
    assert again not in servers.servers
    servers.close()
    assert servers.join(30)
    assert not first.is_alive
