"""TensorBoard servers: one per set of folders, and none after closing."""

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
from tests.gym_gui.conftest import TIMEOUT_MS

pytestmark = pytest.mark.process


@pytest.fixture
def program(tmp_path: Path, give_bundles: Callable[..., None]) -> TensorBoardProgram:
    home = Home(tmp_path / "home")
    give_bundles(home, "cleanrl_worker")
    return find_tensorboard(home)


def test_one_server_for_the_same_folders(
    qtbot: QtBot, ticker: UiTicker, tmp_path: Path, program: TensorBoardProgram
) -> None:
    """A second request returns the existing server; closing stops all of them."""
    servers = TensorBoardServers(ticker)
    first = servers.open(program, {"a": tmp_path})
    assert servers.open(program, {"renamed": tmp_path}) is first
    missing = servers.open(program, {"gone": tmp_path / "gone"})
    qtbot.waitUntil(lambda: missing.state is ServerState.FAILED, timeout=TIMEOUT_MS)
    assert servers.servers == (first, missing)
    again = servers.open(program, {"gone": tmp_path / "gone"})
    assert servers.servers == (first, again)
    servers.stop(again)
    assert again not in servers.servers
    servers.close()
    assert servers.join(30)
    assert not first.is_alive
