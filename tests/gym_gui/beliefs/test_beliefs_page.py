"""Beliefs page with a real run: during the run, afterwards and in a replay."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.beliefs.feed.bdi_state import StepPosition
from gym_gui.beliefs.model import bdi_history
from gym_gui.beliefs.model.beliefs_model import BeliefsModel
from gym_gui.beliefs.view.bdi_list import BdiRow
from gym_gui.beliefs.view.beliefs_page import BeliefsPage
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from tests.gym_gui.bdi_worker import EPISODES, STEPS, bdi_run_config, install_bdi_worker
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """Start a daemon with a worker that reports BDI events."""
    under_test = DaemonUnderTest(tmp_path)
    install_bdi_worker(tmp_path / "workers", under_test.home, tabs=("beliefs",))
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


class PageUnderTest(SimpleNamespace):
    """A page with its models."""

    page: BeliefsPage
    model: BeliefsModel
    shown: SelectedRun
    replay: ReplayModel
    runs: RunsModel
    link: TrainerLink
    qtbot: QtBot

    def run(self, **params: Any) -> str:
        run_id = self.link.client.submit(bdi_run_config(**params)).run_id
        self.shown.select(run_id)
        return run_id

    def wait(self, condition: Any) -> None:
        self.qtbot.waitUntil(condition, timeout=TIMEOUT_MS)

    def wait_for_end(self) -> None:
        self.wait(lambda: self.shown.run is not None and self.shown.run.state is RunState.SUCCEEDED)

    @property
    def beliefs(self) -> list[BdiRow]:
        return list(self.page.cards.beliefs.rows)


@pytest.fixture
def ui(
    qtbot: QtBot, services: Services, link: TrainerLink, theme: ThemeModel
) -> Iterator[PageUnderTest]:
    runs = RunsModel(services)
    shown = SelectedRun(services, runs)
    replay = ReplayModel(services)
    model = BeliefsModel(services, shown, replay)
    page = BeliefsPage(model, theme)
    page.resize(760, 560)
    qtbot.addWidget(page)
    page.show()
    yield PageUnderTest(
        page=page, model=model, shown=shown, replay=replay, runs=runs, link=link, qtbot=qtbot
    )
    model.close()
    replay.close()
    runs.close()
    assert model.join(10)
    assert replay.join(10)
    assert runs.join(10)


def test_states_of_a_run_and_of_its_replay(ui: PageUnderTest) -> None:
    """Two agents with separate states; a click opens the step; the page follows the replay."""
    run_id = ui.run()
    ui.wait_for_end()
    ui.wait(lambda: ui.model.agents == ["coach", "learner"])
    assert ui.beliefs == [BdiRow("team(learner)", "new")]
    ui.page.header.agents.setCurrentIndex(1)
    ui.page.header.agents.activated.emit(1)
    ui.wait(lambda: "rate(4)" in {row.text for row in ui.beliefs})
    assert [row.text for row in ui.beliefs] == ["phase(explore)", "rate(4)"]
    assert ui.page.cards.goals.rows == (BdiRow("train(4)"),)
    assert ui.page.cards.intentions.rows[0].detail == "plan learn · 1 subgoal deep"
    assert ui.page.header.share.text() == "100 %"
    assert ui.page.timeline.count.text() == "5 changes"

    view = ui.page.timeline.list
    centre = view.visualRect(ui.model.timeline.index(2)).center()
    with ui.qtbot.waitSignal(ui.page.step_requested) as requested:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert requested.args == [run_id, 1, 2]
    ui.replay.open(run_id, 1)
    ui.replay.seek(3)
    ui.wait(lambda: ui.model.position == StepPosition(1, 2) and not ui.model.is_reading)
    assert ui.beliefs == [
        BdiRow("phase(explore)"),
        BdiRow("rate(2)", "changed", was="1"),
    ]
    assert ui.page.header.position.text() == "Episode 1 · step 2"
    ui.replay.seek(2)
    assert ui.beliefs == [BdiRow("phase(explore)"), BdiRow("rate(1)")]
    assert ui.page.header.position.text() == "Episode 1 · step 1, as of episode 0 · step 2"
    ui.model.select_when("now")
    assert "rate(4)" in {row.text for row in ui.beliefs}
    ui.replay.open(run_id, 0)
    ui.wait(lambda: ui.model.follows_replay)


def test_a_change_after_the_last_step_can_be_replayed(ui: PageUnderTest) -> None:
    """The row opens the last step, and that step marks the row."""
    run_id = ui.run(extra_changes=1)
    ui.wait_for_end()
    ui.wait(lambda: "learner" in ui.model.agents)
    ui.model.select_agent("learner")
    timeline = ui.model.timeline
    ui.wait(lambda: timeline.rowCount() == 6 and timeline.entry(5).is_after)
    assert timeline.row(5).position == f"episode {EPISODES - 1} · after the last step"
    position = ui.model.replayable(5)
    assert position == StepPosition(EPISODES - 1, STEPS - 1)
    ui.replay.open(run_id, position.episode)
    ui.replay.seek(position.step + 1)
    ui.wait(lambda: ui.model.position == position)
    assert [timeline.current_row, timeline.row(5).is_current] == [5, True]
    ui.wait(lambda: "belief(1)" in {row.text for row in ui.beliefs})


def test_a_thousand_changes_a_second(ui: PageUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest stay in memory; dropped ones are read again."""
    monkeypatch.setattr(bdi_history, "MAX_ENTRIES", 3_000)
    run_id = ui.run(extra_changes=4_000, pause_s=0.05)
    ui.wait(lambda: "learner" in ui.model.agents)
    ui.model.select_agent("learner")
    ui.wait_for_end()
    ui.wait(lambda: "belief(4000)" in ui.model.bdi_state.beliefs)
    assert ui.model.dropped > 0
    assert ui.model.timeline.rowCount() <= 3_000
    assert ui.page.timeline.count.text().startswith("the last ")
    ui.page.timeline.search.setText("belief(3999)")
    assert ui.model.timeline.rowCount() == 2  # added and removed
    ui.replay.open(run_id, 0)
    ui.replay.seek(1)
    ui.wait(lambda: ui.model.position == StepPosition(0, 0) and not ui.model.is_reading)
    ui.wait(lambda: [row.text for row in ui.beliefs] == ["phase(explore)", "rate(0)"])
    assert ui.page.timeline.count.text().endswith(", all after this step")
    ui.replay.seek(3)
    ui.wait(lambda: BdiRow("rate(1)", "changed", was="0") in ui.beliefs)
    assert not ui.page.banner.isVisible()


def test_a_failed_read_is_displayed(ui: PageUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the cause and the remedy; a retry reads the state."""
    monkeypatch.setattr(bdi_history, "MAX_ENTRIES", 2_500)
    with monkeypatch.context() as broken:
        broken.setattr(bdi_history, "fetch_changes", _fail)
        run_id = ui.run(extra_changes=3_000)
        ui.wait(lambda: "learner" in ui.model.agents)
        ui.model.select_agent("learner")
        ui.wait_for_end()
        ui.wait(lambda: ui.model.dropped > 0)
        ui.replay.open(run_id, 1)
        ui.wait(ui.page.banner.isVisible)
    assert ui.page.banner.message == (
        "The agent's state at this step cannot be read. The store is damaged. Repair it."
    )
    assert (ui.beliefs, ui.model.is_reading) == ([], False)
    assert ui.page.cards.beliefs.accessibleDescription() == "Not read"
    (button,) = ui.page.banner.findChildren(QPushButton)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    ui.wait(lambda: ui.beliefs == [BdiRow("phase(explore)"), BdiRow("rate(1)")])
    assert not ui.page.banner.isVisible()


def _fail(*_: object) -> NoReturn:
    raise UserError("The store is damaged.", remedy="Repair it.", code="C999")


def test_empty_states(ui: PageUnderTest) -> None:
    """No run, and a run without BDI events."""
    assert ui.page.empty._title.text() == "No run selected"
    ui.run(has_bdi=False)
    ui.wait(lambda: ui.page.empty._title.text() == "No BDI data in this run")
    assert not ui.page.shows_state
    run_id = ui.run()
    ui.wait(lambda: ui.page.shows_state)
    ui.wait_for_end()
    ui.wait(lambda: ui.model.timeline.total > 0)
    ui.shown.select("")
    assert ui.page.empty._title.text() == "No run selected"
    assert ui.model.run_id != run_id
