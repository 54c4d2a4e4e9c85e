"""ReplayPage against a real daemon: an episode back on the screen, exactly."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.replay.model.replay_model import ExportFormat, ReplayModel
from gym_gui.replay.view.replay_page import ReplayPage
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.resimulation import SimulationChecked, SimulationMessage
from mosaic.client.sessions.actor_service import ActorService
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = [pytest.mark.process, pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)]


@pytest.fixture
def model(
    link: TrainerLink, tasks: Tasks, pulse: UiTicker, notices: Notices
) -> Iterator[ReplayModel]:
    made = ReplayModel(link, tasks, pulse, notices)
    yield made
    made.close()
    assert made.join(20)


@pytest.fixture
def page(model: ReplayModel, theme: ThemeModel, qtbot: QtBot) -> ReplayPage:
    made = ReplayPage(model, theme)
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    return made


@pytest.fixture
def run_id(link: TrainerLink, tasks: Tasks, qtbot: QtBot) -> str:
    """Six episodes of a random actor on the frozen lake."""

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
        link.client.wait(submitted, timeout_s=PATIENCE_MS / 1_000)
        return submitted

    found: list[str] = []
    tasks.run(link, record, found.append)
    qtbot.waitUntil(lambda: bool(found), timeout=PATIENCE_MS)
    return found[0]


def is_exact(model: ReplayModel) -> bool:
    return model.verdict is not None and model.verdict.headline == "exact"


def test_an_episode_is_replayed_exactly_and_scrubbed_by_keys(
    run_id: str, model: ReplayModel, page: ReplayPage, qtbot: QtBot
) -> None:
    """Opened without a number it is the newest; every key moves the playhead and the picture."""
    model.open(run_id)
    qtbot.waitUntil(lambda: is_exact(model), timeout=PATIENCE_MS)
    assert model.episode == 5
    assert model.verdict is not None
    assert model.verdict.text == f"{model.steps} of {model.steps} rewards identical"
    canvas = page._stage.canvas
    QTest.keyClick(canvas, Qt.Key.Key_End)
    assert model.playhead == model.steps
    qtbot.waitUntil(lambda: model.is_frame_current and model.step is not None, timeout=PATIENCE_MS)
    assert model.step is not None
    assert model.step.terminated or model.step.truncated
    assert model.return_so_far == model.step.reward
    last = model.frame
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: model.is_frame_current, timeout=PATIENCE_MS)
    assert last is not None
    assert model.frame is not None
    assert model.frame.pixels != last.pixels
    QTest.keyClick(page._stage._timeline, Qt.Key.Key_Right)
    assert model.playhead == 1
    model.set_speed(16)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: model.playhead == model.steps, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not model.playback.is_playing, timeout=PATIENCE_MS)


def test_the_longest_episode_is_a_button_away_and_is_exported(
    run_id: str,
    link: TrainerLink,
    model: ReplayModel,
    page: ReplayPage,
    notices: Notices,
    qtbot: QtBot,
) -> None:
    """The list shows who acted, an export is offered to be shown, a wrong run says so."""
    steps = {each.episode: each.steps for each in link.client.episodes(run_id)}
    model.open(run_id, 0)
    qtbot.waitUntil(lambda: model.episodes.rowCount() == 6, timeout=PATIENCE_MS)
    model.open(run_id, max(steps))
    model.seek(1)
    qtbot.waitUntil(lambda: model.phase == "ready", timeout=PATIENCE_MS)
    assert model.playhead == 1
    longest = next(each for each in page.findChildren(QPushButton) if each.text() == "Longest")
    qtbot.waitUntil(longest.isEnabled, timeout=PATIENCE_MS)
    longest.click()
    qtbot.waitUntil(
        lambda: model.phase == "ready" and model.steps == max(steps.values()), timeout=PATIENCE_MS
    )
    qtbot.waitUntil(lambda: model.episodes.index(0, 3).data() == "random", timeout=PATIENCE_MS)
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    model.export(ExportFormat.JSONL)
    qtbot.waitUntil(lambda: bool(posted), timeout=PATIENCE_MS)
    assert (posted[0].tone, posted[0].action) == ("good", "Show")
    (file,) = model.exports.folder.iterdir()
    assert file.suffix == ".jsonl"
    model.open("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    qtbot.waitUntil(lambda: model.phase == "failed", timeout=PATIENCE_MS)
    assert page._empty.isVisible()


def test_a_verdict_outlives_the_daemon(
    run_id: str,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    model: ReplayModel,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed and back, with all pictures in memory: the replay is as exact as it was."""
    model.open(run_id)
    qtbot.waitUntil(lambda: is_exact(model), timeout=PATIENCE_MS)
    whole = (range(model.steps + 1),)
    qtbot.waitUntil(lambda: model.state.cached == whole, timeout=PATIENCE_MS)
    daemon.kill()
    qtbot.waitUntil(lambda: model.state.error is not None, timeout=PATIENCE_MS)
    assert model.verdict is not None
    assert model.verdict.can_retry
    replay = model._shown._replay if model._shown is not None else None
    assert replay is not None
    taken: list[SimulationMessage] = []
    take = replay._handle_message

    def take_and_note(part: SimulationMessage) -> None:
        take(part)
        taken.append(part)

    monkeypatch.setattr(replay, "_handle_message", take_and_note)
    qtbot.waitUntil(lambda: not link.is_ready, timeout=PATIENCE_MS)
    with qtbot.waitSignal(link.recovered, timeout=PATIENCE_MS):
        daemon.restart()
    qtbot.waitUntil(lambda: bool(taken), timeout=PATIENCE_MS)
    assert taken[0] == SimulationChecked(steps=0, is_over=False)
    assert replay.state.is_checked
    qtbot.waitUntil(lambda: is_exact(model), timeout=PATIENCE_MS)
