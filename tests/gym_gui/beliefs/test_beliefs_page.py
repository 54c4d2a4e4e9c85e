"""What agents of a real run have in mind: while it runs, afterwards, and where the replay is."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.beliefs.feed.bdi_state import Place
from gym_gui.beliefs.model import bdi_history, bdi_history_cache
from gym_gui.beliefs.model.beliefs_model import BeliefsModel
from gym_gui.beliefs.view.bdi_list import MindRow
from gym_gui.beliefs.view.beliefs_page import BeliefsPage
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.thinking_worker import EPISODES, STEPS, install_thinking_worker, thinking_run
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """It knows a worker that tells of minds."""
    under_test = DaemonUnderTest(tmp_path)
    install_thinking_worker(tmp_path / "workers", under_test.home, tabs=("beliefs",))
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


class Desk(SimpleNamespace):
    """A page with all that it is about."""

    page: BeliefsPage
    model: BeliefsModel
    shown: SelectedRun
    replay: ReplayModel
    runs: RunsModel
    link: TrainerLink
    qtbot: QtBot

    def run(self, **params: Any) -> str:
        run_id = self.link.client.submit(thinking_run(**params)).run_id
        self.shown.show(run_id)
        return run_id

    def wait(self, condition: Any) -> None:
        self.qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    def wait_for_end(self) -> None:
        self.wait(lambda: self.shown.run is not None and self.shown.run.state is RunState.SUCCEEDED)

    @property
    def beliefs(self) -> list[MindRow]:
        return list(self.page.cards.beliefs.rows)


@pytest.fixture
def desk(
    qtbot: QtBot,
    link: TrainerLink,
    tasks: Tasks,
    pulse: UiTicker,
    notices: Notices,
    theme: ThemeModel,
) -> Iterator[Desk]:
    runs = RunsModel(link, tasks, pulse, notices)
    shown = SelectedRun(link, tasks, runs)
    replay = ReplayModel(link, tasks, pulse, notices)
    model = BeliefsModel(link, tasks, pulse, shown, replay)
    page = BeliefsPage(model, theme)
    page.resize(760, 560)
    qtbot.addWidget(page)
    page.show()
    yield Desk(
        page=page, model=model, shown=shown, replay=replay, runs=runs, link=link, qtbot=qtbot
    )
    model.close()
    replay.close()
    runs.close()
    assert model.join(10)
    assert replay.join(10)
    assert runs.join(10)


def test_minds_of_a_run_and_of_its_replay(desk: Desk) -> None:
    """Two agents, each with its own; a click leads to the step, and the page follows the replay."""
    run_id = desk.run()
    desk.wait_for_end()
    desk.wait(lambda: desk.model.agents == ["coach", "learner"])
    assert desk.beliefs == [MindRow("team(learner)", "new")]
    desk.page.head.agents.setCurrentIndex(1)
    desk.page.head.agents.activated.emit(1)
    desk.wait(lambda: "rate(4)" in {row.text for row in desk.beliefs})
    assert [row.text for row in desk.beliefs] == ["phase(explore)", "rate(4)"]
    assert desk.page.cards.goals.rows == (MindRow("train(4)"),)
    assert desk.page.cards.intentions.rows[0].detail == "plan learn · 1 subgoal deep"
    assert desk.page.head.share.text() == "100 %"
    assert desk.page.timeline.count.text() == "5 changes"

    view = desk.page.timeline.list
    place = view.visualRect(desk.model.timeline.index(2)).center()
    with desk.qtbot.waitSignal(desk.page.step_wanted) as wanted:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert wanted.args == [run_id, 1, 2]
    desk.replay.open(run_id, 1)
    desk.replay.seek(3)
    desk.wait(lambda: desk.model.place == Place(1, 2) and not desk.model.is_reading)
    assert desk.beliefs == [
        MindRow("phase(explore)"),
        MindRow("rate(2)", "changed", was="1"),
    ]
    assert desk.page.head.where.text() == "Episode 1 · step 2"
    desk.replay.seek(2)
    assert desk.beliefs == [MindRow("phase(explore)"), MindRow("rate(1)")]
    assert desk.page.head.where.text() == "Episode 1 · step 1, as of episode 0 · step 2"
    desk.model.choose_when("now")
    assert "rate(4)" in {row.text for row in desk.beliefs}
    desk.replay.open(run_id, 0)
    desk.wait(lambda: desk.model.follows_replay)


def test_a_change_after_the_last_step_is_told_there(desk: Desk) -> None:
    """Its row, the replay that it leads to and the row that is marked there are one."""
    run_id = desk.run(thoughts=1)
    desk.wait_for_end()
    desk.wait(lambda: "learner" in desk.model.agents)
    desk.model.choose_agent("learner")
    timeline = desk.model.timeline
    desk.wait(lambda: timeline.rowCount() == 6 and timeline.entry(5).is_after)
    assert timeline.row(5).place == f"episode {EPISODES - 1} · after its last step"
    place = desk.model.replayable(5)
    assert place == Place(EPISODES - 1, STEPS - 1)
    desk.replay.open(run_id, place.episode)
    desk.replay.seek(place.step + 1)
    desk.wait(lambda: desk.model.place == place)
    assert [timeline.shown_row, timeline.row(5).is_shown] == [5, True]
    desk.wait(lambda: "thought(1)" in {row.text for row in desk.beliefs})


def test_a_thousand_changes_a_second(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest are kept, the page stays quick, and what is no longer kept is read again."""
    monkeypatch.setattr(bdi_history, "MOST_ENTRIES", 3_000)
    run_id = desk.run(thoughts=4_000, pause_s=0.05)
    desk.wait(lambda: "learner" in desk.model.agents)
    desk.model.choose_agent("learner")
    desk.wait_for_end()
    desk.wait(lambda: "thought(4000)" in desk.model.mind.beliefs)
    assert desk.model.dropped > 0
    assert desk.model.timeline.rowCount() <= 3_000
    assert desk.page.timeline.count.text().startswith("the last ")
    desk.page.timeline.search.setText("thought(3999)")
    assert desk.model.timeline.rowCount() == 2  # it came, and it went
    desk.replay.open(run_id, 0)
    desk.replay.seek(1)
    desk.wait(lambda: desk.model.place == Place(0, 0) and not desk.model.is_reading)
    desk.wait(lambda: [row.text for row in desk.beliefs] == ["phase(explore)", "rate(0)"])
    assert desk.page.timeline.count.text().endswith(", all after this step")
    desk.replay.seek(3)
    desk.wait(lambda: MindRow("rate(1)", "changed", was="0") in desk.beliefs)
    assert not desk.page.banner.isVisible()


def test_what_cannot_be_read_again_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why, and what to do; trying again brings what the agent had in mind there."""
    monkeypatch.setattr(bdi_history, "MOST_ENTRIES", 2_500)
    with monkeypatch.context() as broken:
        broken.setattr(bdi_history_cache, "fetch_changes", _refuse)
        run_id = desk.run(thoughts=3_000)
        desk.wait(lambda: "learner" in desk.model.agents)
        desk.model.choose_agent("learner")
        desk.wait_for_end()
        desk.wait(lambda: desk.model.dropped > 0)
        desk.replay.open(run_id, 1)
        desk.wait(desk.page.banner.isVisible)
    assert desk.page.banner.message == (
        "What the agent had in mind at this step cannot be read. The store is damaged. Repair it."
    )
    assert (desk.beliefs, desk.model.is_reading) == ([], False)
    assert desk.page.cards.beliefs.accessibleDescription() == "Not read"
    (button,) = desk.page.banner.findChildren(QPushButton)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.beliefs == [MindRow("phase(explore)"), MindRow("rate(1)")])
    assert not desk.page.banner.isVisible()


def _refuse(*_: object) -> NoReturn:
    raise UserError("The store is damaged.", remedy="Repair it.", code="C999")


def test_nothing_to_show(desk: Desk) -> None:
    """No run, a run that tells of no mind: each says so."""
    assert desk.page.empty._title.text() == "No run is shown"
    desk.run(is_silent=True)
    desk.wait(lambda: desk.page.empty._title.text() == "Nothing to show of this run")
    assert not desk.page.shows_mind
    run_id = desk.run()
    desk.wait(lambda: desk.page.shows_mind)
    desk.wait_for_end()
    desk.wait(lambda: desk.model.timeline.total > 0)
    desk.shown.show("")
    assert desk.page.empty._title.text() == "No run is shown"
    assert desk.model.run_id != run_id
