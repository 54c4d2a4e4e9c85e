"""The play views without a daemon: painting, texts and the empty state."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, QSizeF
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.frame_canvas import ZoomableFrameCanvas
from gym_gui.play.view.grid_canvas import GridCanvas
from gym_gui.play.view.grid_legend import GridLegend
from gym_gui.play.view.play_area import PlayArea
from gym_gui.play.view.play_bar import PlayBar
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.session_service import Frame, SessionPhase, SessionService, SessionState
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.scene.grid_renderer import GridGeometry
from mosaic.contract.events import EnvironmentEvent, EpisodeStart
from mosaic.contract.layout import Home


@pytest.fixture
def sessions(tmp_path: Path, ticker: UiTicker) -> Iterator[SessionService]:
    """Without a daemon; tests set the state."""
    link = TrainerLink(Home(tmp_path))
    service = SessionService(link, ticker)
    yield service
    service.close()
    link.close()


@pytest.fixture
def model(sessions: SessionService, ticker: UiTicker) -> PlayModel:
    return PlayModel(sessions, ticker)


def play_lake(sessions: SessionService) -> None:
    """Set the state of a running session in FrozenLake."""
    sessions._on_state(
        SessionState(
            phase=SessionPhase.RUNNING,
            run_id="01",
            env_id="FrozenLake-v1",
            actor="human",
            environment=EnvironmentEvent(env_id="FrozenLake-v1", env_kwargs={}),
        )
    )


def test_a_cell_tooltip_describes_the_cell(
    sessions: SessionService, model: PlayModel, theme: ThemeModel, qtbot: QtBot
) -> None:
    """Row, column, content and visits; empty outside of the grid."""
    canvas = GridCanvas(model, theme)
    qtbot.addWidget(canvas)
    canvas.resize(400, 400)
    with qtbot.waitSignal(sessions.changed):
        play_lake(sessions)
    with qtbot.waitSignal(model.scene_changed):
        sessions.lines_arrived.emit([EpisodeStart(episode_id="a", episode=0, seed=1, obs=5)])
    centre = GridGeometry.fit(4, 4, QSizeF(400, 400), canvas.fontMetrics().height() * 0.75).cell(
        1, 1
    )
    text = canvas.text_at(QPointF(centre.center()))
    assert text == "Row 2, column 2: hole, the agent\nVisited 1 time"
    assert canvas.text_at(QPointF(1, 1)) == ""
    assert canvas.grab().toImage().pixelColor(centre.center().toPoint()).name() == (
        theme.colours.person
    )


def test_a_frame_keeps_its_aspect_ratio_and_colours(
    sessions: SessionService, model: PlayModel, qtbot: QtBot
) -> None:
    """Centred and as large as possible, or an integer multiple of its size."""
    canvas = ZoomableFrameCanvas(model)
    qtbot.addWidget(canvas)
    canvas.resize(450, 300)
    red, blue = b"\xff\x00\x00", b"\x00\x00\xff"
    sessions.newest_frame = Frame(
        number=1,
        width=40,
        height=40,
        channels=3,
        step=0,
        control_seq=0,
        step_json=b"",
        pixels=(red * 20 + blue * 20) * 40,
    )
    with qtbot.waitSignal(model.frame_changed):
        sessions.frame_changed.emit()
    assert canvas.target().size().toTuple() == (300, 300)
    canvas.set_scaling("pixels")
    assert canvas.target().size().toTuple() == (280, 280)
    image = canvas.grab().toImage()
    assert image.pixelColor(QPoint(100, 150)).name() == "#ff0000"
    assert image.pixelColor(QPoint(350, 150)).name() == "#0000ff"


def test_an_empty_view_offers_to_play(model: PlayModel, theme: ThemeModel, qtbot: QtBot) -> None:
    """The empty state has a button that requests a session."""
    page = PlayArea(model, theme).grid_page
    qtbot.addWidget(page)
    page.show()
    texts = [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
    assert "No session yet" in texts
    button = next(button for button in page.findChildren(QPushButton) if button.isVisible())
    with qtbot.waitSignal(model.play_requested):
        button.click()


def test_hints_wrap_into_rows(qtbot: QtBot) -> None:
    """A narrow container has more rows, and no row is wider than the container."""
    container = QWidget()
    qtbot.addWidget(container)
    flow = FlowLayout(container, gap=10)
    for _ in range(4):
        child = QWidget()
        child.setFixedSize(90, 20)
        flow.addWidget(child)
    assert flow.heightForWidth(400) == 20
    assert flow.heightForWidth(200) == 45
    assert flow.heightForWidth(100) == 95


def test_a_narrow_bar_clips_no_label(
    sessions: SessionService, model: PlayModel, theme: ThemeModel, qtbot: QtBot
) -> None:
    """Actor and score use two rows when the bar is narrow."""
    bar = PlayBar(model, theme)
    qtbot.addWidget(bar)
    with qtbot.waitSignal(sessions.changed):
        play_lake(sessions)
    bar.show()
    for em in (34, 70):
        bar.resize(bar.fontMetrics().height() * em, bar.sizeHint().height())
        QApplication.processEvents()
        assert bar.actor_mark.width() >= bar.actor_mark.sizeHint().width()
        for label in bar.score_line.findChildren(QLabel):
            assert label.width() >= label.sizeHint().width()
        is_below = bar.score_line.y() >= bar.actor_mark.geometry().bottom()
        assert is_below == (em == 34)


def test_the_legend_names_the_actor(
    sessions: SessionService, model: PlayModel, theme: ThemeModel, qtbot: QtBot
) -> None:
    """`you` for the user, the display name for an agent."""
    legend = GridLegend(model, theme)
    qtbot.addWidget(legend)
    with qtbot.waitSignal(sessions.changed):
        play_lake(sessions)
    with qtbot.waitSignal(model.scene_changed):
        sessions.lines_arrived.emit([EpisodeStart(episode_id="a", episode=0, seed=1, obs=5)])
    qtbot.waitUntil(lambda: "you" in {label.text() for label in legend.findChildren(QLabel)})
    sessions._on_state(replace(sessions.state, actor="random"))
    qtbot.waitUntil(lambda: "Random" in {label.text() for label in legend.findChildren(QLabel)})
