"""ReplayPage with a real daemon: exact replays."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.replay.model.replay_model import ExportFormat, ReplayModel
from gym_gui.replay.view.replay_page import ReplayPage
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.client.resimulation import SimulationChecked, SimulationMessage
from mosaic.client.sessions.actor_service import ActorService
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = [pytest.mark.process, pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)]


@pytest.fixture
def model(services: Services) -> Iterator[ReplayModel]:
    created = ReplayModel(services)
    yield created
    created.close()
    assert created.join(20)


@pytest.fixture
def page(model: ReplayModel, theme: ThemeModel, qtbot: QtBot) -> ReplayPage:
    created = ReplayPage(model, theme)
    qtbot.addWidget(created)
    created.resize(1000, 700)
    created.show()
    return created


@pytest.fixture
def run_id(link: TrainerLink, tasks: Tasks, qtbot: QtBot) -> str:
    """Six episodes of a random actor in FrozenLake."""

    def record() -> str:
        config = ActorService(link.client).make_run_config(
            "random",
            "FrozenLake-v1",
            episodes=6,
            mode="evaluate",
            frames=False,
            lease_s=None,
            seed=5,
        )
        submitted = link.client.submit(config).run_id
        link.client.wait(submitted, timeout_s=TIMEOUT_MS / 1_000)
        return submitted

    run_ids: list[str] = []
    tasks.run(link, record, run_ids.append)
    qtbot.waitUntil(lambda: bool(run_ids), timeout=TIMEOUT_MS)
    return run_ids[0]


def is_exact(model: ReplayModel) -> bool:
    return model.status is not None and model.status.headline == "exact"


def test_an_episode_is_replayed_exactly_and_keys_move_the_playhead(
    run_id: str, model: ReplayModel, page: ReplayPage, qtbot: QtBot
) -> None:
    """The default is the newest episode; keys move the playhead and the frame."""
    model.open(run_id)
    qtbot.waitUntil(lambda: is_exact(model), timeout=TIMEOUT_MS)
    assert model.episode == 5
    assert model.status is not None
    assert model.status.text == f"{model.steps} of {model.steps} rewards identical"
    canvas = page._view.canvas
    QTest.keyClick(canvas, Qt.Key.Key_End)
    assert model.playhead == model.steps
    qtbot.waitUntil(lambda: model.is_frame_current and model.step is not None, timeout=TIMEOUT_MS)
    assert model.step is not None
    assert model.step.terminated or model.step.truncated
    assert model.return_so_far == model.step.reward
    last = model.frame
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: model.is_frame_current, timeout=TIMEOUT_MS)
    assert last is not None
    assert model.frame is not None
    assert model.frame.pixels != last.pixels
    QTest.keyClick(page._view._timeline, Qt.Key.Key_Right)
    assert model.playhead == 1
    model.set_speed(16)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: model.playhead == model.steps, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: not model.playback.is_playing, timeout=TIMEOUT_MS)


def test_the_longest_episode_is_opened_and_exported(
    run_id: str,
    link: TrainerLink,
    model: ReplayModel,
    page: ReplayPage,
    notices: Notices,
    qtbot: QtBot,
) -> None:
    """The table shows actors, an export offers to show the file, an unknown run fails."""
    steps = {episode.episode: episode.steps for episode in link.client.episodes(run_id)}
    model.open(run_id, 0)
    qtbot.waitUntil(lambda: model.episodes.rowCount() == 6, timeout=TIMEOUT_MS)
    model.open(run_id, max(steps))
    model.seek(1)
    qtbot.waitUntil(lambda: model.phase == "ready", timeout=TIMEOUT_MS)
    assert model.playhead == 1
    longest = next(
        button for button in page.findChildren(QPushButton) if button.text() == "Longest"
    )
    qtbot.waitUntil(longest.isEnabled, timeout=TIMEOUT_MS)
    longest.click()
    qtbot.waitUntil(
        lambda: model.phase == "ready" and model.steps == max(steps.values()), timeout=TIMEOUT_MS
    )
    qtbot.waitUntil(lambda: model.episodes.index(0, 3).data() == "random", timeout=TIMEOUT_MS)
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    model.export(ExportFormat.JSONL)
    qtbot.waitUntil(lambda: bool(posted), timeout=TIMEOUT_MS)
    assert (posted[0].tone, posted[0].action) == ("good", "Show")
    (file,) = model.exports.folder.iterdir()
    assert file.suffix == ".jsonl"
    model.open("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    qtbot.waitUntil(lambda: model.phase == "failed", timeout=TIMEOUT_MS)
    assert page._empty.isVisible()


def test_the_status_survives_a_daemon_restart(
    run_id: str,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    model: ReplayModel,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All frames are cached: the replay is exact again after the restart."""
    model.open(run_id)
    qtbot.waitUntil(lambda: is_exact(model), timeout=TIMEOUT_MS)
    all_frames = (range(model.steps + 1),)
    qtbot.waitUntil(lambda: model.state.cached == all_frames, timeout=TIMEOUT_MS)
    daemon.kill()
    qtbot.waitUntil(lambda: model.state.error is not None, timeout=TIMEOUT_MS)
    assert model.status is not None
    assert model.status.can_retry
    replay = model._episode._replay if model._episode is not None else None
    assert replay is not None
    messages: list[SimulationMessage] = []
    handle = replay._handle_message

    def handle_and_record(message: SimulationMessage) -> None:
        handle(message)
        messages.append(message)

    monkeypatch.setattr(replay, "_handle_message", handle_and_record)
    qtbot.waitUntil(lambda: not link.is_ready, timeout=TIMEOUT_MS)
    with qtbot.waitSignal(link.recovered, timeout=TIMEOUT_MS):
        daemon.restart()
    qtbot.waitUntil(lambda: bool(messages), timeout=TIMEOUT_MS)
    assert messages[0] == SimulationChecked(steps=0, is_over=False)
    assert replay.state.is_checked
    qtbot.waitUntil(lambda: is_exact(model), timeout=TIMEOUT_MS)
