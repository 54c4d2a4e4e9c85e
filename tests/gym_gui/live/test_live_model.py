"""Watching a run: its newest step, its tables, and the way out where it is silent."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gym_gui.live.model.episodes_table import EpisodeColumn
from gym_gui.live.model.live_model import LiveModel
from gym_gui.live.model.paged_table import ON_ITS_WAY
from gym_gui.live.view.episodes_view import EpisodesView
from gym_gui.live.view.live_tab import LiveTab
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.settings_store import SettingsStore
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def live(
    link: TrainerLink, tasks: Tasks, ticker: UiTicker, notices: Notices
) -> Iterator[LiveModel]:
    runs = RunsModel(link, tasks, ticker, notices)
    made = LiveModel(link, tasks, ticker, notices, runs, SettingsStore(link.home))
    yield made
    made.close()
    runs.close()
    assert made.join(10)
    assert runs.join(10)


def test_a_run_that_goes_on(
    qtbot: QtBot, live: LiveModel, daemon: DaemonUnderTest, theme: ThemeModel
) -> None:
    """The newest step and the tables move along; after the daemon was killed, they do so again."""
    tab = LiveTab(live, theme)
    qtbot.addWidget(tab)
    run_id = daemon.submit(steps=1_000_000, rate=400, episode_length=20)
    live.show(run_id)
    qtbot.waitUntil(lambda: live.step is not None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: live.episodes.rowCount() > 2, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: live.steps.rowCount() > 0, timeout=PATIENCE_MS)
    assert tab._figures._state.text() == "● running"
    daemon.kill()
    qtbot.waitUntil(lambda: tab._figures._state.text() == "? not known now", timeout=PATIENCE_MS)
    before, step = live.episodes.rowCount(), live.step
    assert daemon.start().startswith("ready ")
    qtbot.waitUntil(lambda: live.step is not step, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: live.episodes.rowCount() > before + 2, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: tab._figures._state.text() == "● running", timeout=PATIENCE_MS)
    live.show("")
    assert live.run is None
    assert live.episodes.rowCount() == 0


def test_the_newest_episode_stays_in_sight_when_a_run_ends(
    qtbot: QtBot, live: LiveModel, link: TrainerLink, daemon: DaemonUnderTest, theme: ThemeModel
) -> None:
    """Its last episodes come when it is over, and what is said then takes some of the room."""
    tab = LiveTab(live, theme)
    qtbot.addWidget(tab)
    tab.resize(900, 600)
    tab.show()
    run_id = daemon.submit(steps=1_000_000, rate=400, episode_length=4)
    live.show(run_id)
    bar = tab.episodes.grid.verticalScrollBar()
    qtbot.waitUntil(lambda: 0 < bar.maximum() == bar.value(), timeout=PATIENCE_MS)
    link.client.cancel(run_id, reason="stopped in the window")
    qtbot.waitUntil(tab.banner.isVisible, timeout=PATIENCE_MS)
    assert tab.banner.message == "This run is over: stopped in the window."
    total = link.client.episodes_page(run_id, count=1).total
    qtbot.waitUntil(lambda: live.episodes.rowCount() == total, timeout=PATIENCE_MS)
    assert bar.value() == bar.maximum()


def test_tables_of_a_run_that_is_over(
    qtbot: QtBot,
    live: LiveModel,
    daemon: DaemonUnderTest,
    notices: Notices,
    theme: ThemeModel,
) -> None:
    """Episodes sorted and filtered, steps of one of them, all of it as a file."""
    run_id = daemon.submit(steps=1000, episode_length=4)
    daemon.until(run_id)
    table = live.episodes
    view = EpisodesView(table, theme)
    qtbot.addWidget(view)
    live.show(run_id)
    qtbot.waitUntil(lambda: table.rowCount() == 250, timeout=PATIENCE_MS)

    def returns() -> list[float]:
        rows = [table.row_at(number) for number in range(min(5, table.rowCount()))]
        return [row.total_return for row in rows if row is not None]

    table.sort(EpisodeColumn.RETURN, Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: len(returns()) == 5, timeout=PATIENCE_MS)
    assert returns() == sorted(returns(), reverse=True)
    table.between(returns()[3], None)
    qtbot.waitUntil(lambda: table.rowCount() == 4, timeout=PATIENCE_MS)
    assert view.bar._count.text() == "4 of 250 episodes"
    view.bar._filter.click()
    assert view.focusWidget() is view._ending
    table.only("truncated")
    qtbot.waitUntil(lambda: not table.is_loading, timeout=PATIENCE_MS)
    assert table.rowCount() == 0

    live.pin_episode(17)
    steps = live.steps
    qtbot.waitUntil(
        lambda: steps.episode == 17 and steps.index(3, 0).data() != ON_ITS_WAY,
        timeout=PATIENCE_MS,
    )
    assert [steps.index(row, 0).data() for row in range(4)] == ["0", "1", "2", "3"]
    assert steps.as_tsv([0, 3]).count("\n") == 3
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    steps.export_csv()
    qtbot.waitUntil(lambda: bool(posted), timeout=PATIENCE_MS)
    assert posted[0].action == "Show"
    (file,) = (daemon.home.path / "exports").iterdir()
    assert file.name in posted[0].message
    assert file.name.endswith("episode 17 steps.csv")
    assert len(file.read_text().splitlines()) == 5


def test_a_worker_that_tells_nothing_of_its_steps(
    qtbot: QtBot,
    live: LiveModel,
    link: TrainerLink,
    give_bundles: Callable[..., None],
    theme: ThemeModel,
) -> None:
    """The banner says so, the ways out are there, and the switch is remembered."""
    give_bundles(Home(link.home.path), "cleanrl_worker")
    tab = LiveTab(live, theme)
    qtbot.addWidget(tab)
    config = {"worker": "cleanrl_worker", "algo": "dqn", "env_id": "CartPole-v1"}
    run = link.client.submit({**config, "total_timesteps": 100_000, "priority": -1})
    live.show(run.run_id)
    qtbot.waitUntil(lambda: live.is_silent, timeout=PATIENCE_MS)
    assert tab.banner.message == (
        "CleanRL worker streams metrics via TensorBoard/W&B; live telemetry not available."
    )

    qtbot.waitUntil(
        lambda: live.waiting_words == ("This worker tells metrics, not steps.", ""),
        timeout=PATIENCE_MS,
    )

    def can_start_again() -> bool:
        return live.can_start_again

    assert can_start_again()
    live.tell_next_time(True)
    assert live.tells_next_time
    link.client.cancel(run.run_id, grace_s=0.0)
    live.start_again()
    assert not can_start_again()
    qtbot.waitUntil(can_start_again, timeout=PATIENCE_MS)
    again = next(run for run in link.client.runs() if run.run_id != live.run_id)
    assert b'"steps":"sampled"' in link.client.run(again.run_id).config_json
    link.client.cancel(again.run_id, grace_s=0.0)


def test_the_steps_of_the_newest_episode_never_vanish(
    qtbot: QtBot, live: LiveModel, daemon: DaemonUnderTest
) -> None:
    """From one short episode to the next there are rows all the time, each of one episode."""
    live.show(daemon.submit(steps=1_000_000, rate=100, episode_length=20))
    steps = live.steps
    qtbot.waitUntil(lambda: steps.rowCount() > 0, timeout=PATIENCE_MS)
    seen: set[int] = set()

    def look() -> None:
        assert steps.rowCount() > 0
        if steps.episode is not None:
            seen.add(steps.episode)

    steps.changed.connect(look)
    qtbot.waitUntil(lambda: len(seen) > 2, timeout=PATIENCE_MS)


def test_a_run_chosen_while_another_is_asked_about_has_its_steps(
    qtbot: QtBot, live: LiveModel, tasks: Tasks, daemon: DaemonUnderTest
) -> None:
    """Nothing more comes of a run that is over, so the first question must not get lost."""
    first, second = (daemon.submit(steps=20, episode_length=4) for _ in range(2))
    daemon.until(first)
    daemon.until(second)
    for run_id in (first, second) * 3:
        live.show(run_id)
        qtbot.waitUntil(lambda: tasks.is_busy, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: live.steps.rowCount() == 4, timeout=PATIENCE_MS)


def test_pictures_are_read_only_while_somebody_looks(
    qtbot: QtBot, live: LiveModel, daemon: DaemonUnderTest
) -> None:
    """A hidden tab costs nothing; when it is looked at again, it shows what is now."""
    drawn: list[bool] = []
    live.frame_changed.connect(lambda: drawn.append(True))
    live.set_watched(False)
    live.show(daemon.submit(steps=1_000_000, rate=100, episode_length=20))
    drawn.clear()
    qtbot.waitUntil(lambda: live.steps.rowCount() > 0, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: live.step is not None, timeout=PATIENCE_MS)
    assert drawn == []
    live.set_watched(True)
    qtbot.waitUntil(lambda: bool(drawn), timeout=PATIENCE_MS)
