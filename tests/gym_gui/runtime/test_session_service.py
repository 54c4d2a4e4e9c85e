"""The session for the UI thread: what is asked early waits, and what was started here ends here."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.session_service import SessionPhase, SessionRequest, SessionService
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.events import EpisodeStart
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

LAKE = SessionRequest(env_id="FrozenLake-v1", env_kwargs={"is_slippery": False}, seed=1)


def test_a_session_asked_for_early_begins_once_there_is_a_daemon_and_ends_with_the_window(
    daemon: DaemonUnderTest, ticker: UiTicker, qtbot: QtBot
) -> None:
    """Its picture and its beginning come by themselves; nothing of it goes on after closing."""
    link = TrainerLink(daemon.home)
    sessions = SessionService(link, ticker)
    lines: list[object] = []
    sessions.lines_arrived.connect(lines.extend)
    sessions.start(LAKE)
    assert sessions.is_waiting_for_daemon
    link.open(start=False)
    qtbot.waitUntil(lambda: sessions.newest_frame is not None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: bool(lines), timeout=PATIENCE_MS)
    assert isinstance(lines[0], EpisodeStart)
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.RUNNING, timeout=PATIENCE_MS)
    run_id = sessions.state.run_id
    sessions.close()
    assert sessions.join(20)
    qtbot.waitUntil(lambda: link.client.run(run_id).run.state.is_final, timeout=PATIENCE_MS)
    link.close()
    assert link.join(10)


def test_a_session_that_was_only_attached_to_goes_on(
    link: TrainerLink, ticker: UiTicker, qtbot: QtBot
) -> None:
    """Somebody else plays it; who came to watch leaves it alone."""
    players, watchers = SessionService(link, ticker), SessionService(link, ticker)
    players.start(LAKE)
    qtbot.waitUntil(lambda: players.state.phase is SessionPhase.RUNNING, timeout=PATIENCE_MS)
    run_id = players.state.run_id
    watchers.attach(run_id)
    qtbot.waitUntil(lambda: watchers.newest_frame is not None, timeout=PATIENCE_MS)
    watchers.close()
    assert watchers.join(20)
    assert link.client.run(run_id).run.state is RunState.RUNNING
    players.close()
    assert players.join(20)


def test_a_session_asked_for_just_before_closing_ends_too(
    link: TrainerLink, ticker: UiTicker, qtbot: QtBot
) -> None:
    """Also after one that was over already: no run is left that nobody plays."""
    sessions = SessionService(link, ticker)
    sessions.start(LAKE)
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.RUNNING, timeout=PATIENCE_MS)
    sessions.stop()
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.FINISHED, timeout=PATIENCE_MS)
    sessions.start(LAKE)
    sessions.close()
    assert sessions.join(20)
    qtbot.waitUntil(
        lambda: [run.state.is_final for run in link.client.runs()] == [True, True],
        timeout=PATIENCE_MS,
    )


def test_a_session_that_waits_for_a_daemon_can_be_called_off(
    tmp_path: Path, ticker: UiTicker
) -> None:
    """Whoever shows it is told."""
    sessions = SessionService(TrainerLink(Home(tmp_path)), ticker)
    sessions.start(LAKE)
    told: list[bool] = []
    sessions.changed.connect(lambda: told.append(sessions.is_waiting_for_daemon))
    sessions.stop()
    assert told == [False]
