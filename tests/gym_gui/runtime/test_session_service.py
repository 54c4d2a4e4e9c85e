"""SessionService: early requests wait, and own sessions end when it closes."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.runtime.session_service import SessionPhase, SessionRequest, SessionService
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.events import EpisodeStart
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

LAKE = SessionRequest(env_id="FrozenLake-v1", env_kwargs={"is_slippery": False}, seed=1)


def test_an_early_request_starts_with_the_daemon_and_ends_on_close(
    daemon: DaemonUnderTest, ticker: UiTicker, qtbot: QtBot
) -> None:
    """Frame and first line are delivered; the run ends when the service closes."""
    link = TrainerLink(daemon.home)
    sessions = SessionService(link, ticker)
    lines: list[object] = []
    sessions.lines_arrived.connect(lines.extend)
    sessions.start(LAKE)
    assert sessions.is_waiting_for_daemon
    link.open(start=False)
    qtbot.waitUntil(lambda: sessions.newest_frame is not None, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: bool(lines), timeout=TIMEOUT_MS)
    assert isinstance(lines[0], EpisodeStart)
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.RUNNING, timeout=TIMEOUT_MS)
    run_id = sessions.state.run_id
    sessions.close()
    assert sessions.join(20)
    qtbot.waitUntil(lambda: link.client.run(run_id).run.state.is_final, timeout=TIMEOUT_MS)
    link.close()
    assert link.join(10)


def test_an_attached_session_continues_after_close(
    link: TrainerLink, ticker: UiTicker, qtbot: QtBot
) -> None:
    """Only its owner stops a session."""
    owner, observer = SessionService(link, ticker), SessionService(link, ticker)
    owner.start(LAKE)
    qtbot.waitUntil(lambda: owner.state.phase is SessionPhase.RUNNING, timeout=TIMEOUT_MS)
    run_id = owner.state.run_id
    observer.attach(run_id)
    qtbot.waitUntil(lambda: observer.newest_frame is not None, timeout=TIMEOUT_MS)
    observer.close()
    assert observer.join(20)
    assert link.client.run(run_id).run.state is RunState.RUNNING
    owner.close()
    assert owner.join(20)


def test_a_session_requested_just_before_closing_ends(
    link: TrainerLink, ticker: UiTicker, qtbot: QtBot
) -> None:
    """Also if the previous session was finished: no run is left behind."""
    sessions = SessionService(link, ticker)
    sessions.start(LAKE)
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.RUNNING, timeout=TIMEOUT_MS)
    sessions.stop()
    qtbot.waitUntil(lambda: sessions.state.phase is SessionPhase.FINISHED, timeout=TIMEOUT_MS)
    sessions.start(LAKE)
    sessions.close()
    assert sessions.join(20)
    qtbot.waitUntil(
        lambda: [run.state.is_final for run in link.client.runs()] == [True, True],
        timeout=TIMEOUT_MS,
    )


def test_a_waiting_session_can_be_cancelled(tmp_path: Path, ticker: UiTicker) -> None:
    """The change is emitted."""
    sessions = SessionService(TrainerLink(Home(tmp_path)), ticker)
    sessions.start(LAKE)
    states: list[bool] = []
    sessions.changed.connect(lambda: states.append(sessions.is_waiting_for_daemon))
    sessions.stop()
    assert states == [False]
