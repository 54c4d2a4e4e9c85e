"""The Live tab: newest step, tables, and the actions of a run that reports metrics only."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gym_gui.live.model.episodes_table import EpisodeColumn
from gym_gui.live.model.live_model import LiveModel
from gym_gui.live.model.paged_table import LOADING_TEXT
from gym_gui.live.view.live_tab import LiveTab
from gym_gui.live.view.table_views import EpisodesView
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def live(services: Services) -> Iterator[LiveModel]:
    runs = RunsModel(services)
    model = LiveModel(services, runs)
    yield model
    model.close()
    runs.close()
    assert model.join(10)
    assert runs.join(10)


def test_tab_follows_a_running_run(
    qtbot: QtBot, live: LiveModel, daemon: DaemonUnderTest, theme: ThemeModel
) -> None:
    """Step and tables are updated, also after the daemon was killed and started again."""
    tab = LiveTab(live, theme)
    qtbot.addWidget(tab)
    run_id = daemon.submit(steps=1_000_000, rate=400, episode_length=20)
    live.show(run_id)
    qtbot.waitUntil(lambda: live.step is not None, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: live.episodes.rowCount() > 2, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: live.steps.rowCount() > 0, timeout=TIMEOUT_MS)
    assert tab._header._state.text() == "● running"
    daemon.kill()
    qtbot.waitUntil(lambda: tab._header._state.text() == "? unknown", timeout=TIMEOUT_MS)
    before, step = live.episodes.rowCount(), live.step
    assert daemon.start().startswith("ready ")
    qtbot.waitUntil(lambda: live.step is not step, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: live.episodes.rowCount() > before + 2, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: tab._header._state.text() == "● running", timeout=TIMEOUT_MS)
    live.show("")
    assert live.run is None
    assert live.episodes.rowCount() == 0


def test_newest_episode_stays_visible_when_a_run_ends(
    qtbot: QtBot, live: LiveModel, link: TrainerLink, daemon: DaemonUnderTest, theme: ThemeModel
) -> None:
    """The last episodes arrive after the end, and the banner reduces the height of the table."""
    tab = LiveTab(live, theme)
    qtbot.addWidget(tab)
    tab.resize(900, 600)
    tab.show()
    run_id = daemon.submit(steps=1_000_000, rate=400, episode_length=4)
    live.show(run_id)
    bar = tab.episodes.grid.verticalScrollBar()
    qtbot.waitUntil(lambda: 0 < bar.maximum() == bar.value(), timeout=TIMEOUT_MS)
    link.client.cancel(run_id, reason="stopped in the window")
    qtbot.waitUntil(tab.banner.isVisible, timeout=TIMEOUT_MS)
    assert tab.banner.message == "This run is finished: stopped in the window."
    total = link.client.episodes_page(run_id, count=1).total
    qtbot.waitUntil(lambda: live.episodes.rowCount() == total, timeout=TIMEOUT_MS)
    assert bar.value() == bar.maximum()


def test_tables_of_a_finished_run(
    qtbot: QtBot,
    live: LiveModel,
    daemon: DaemonUnderTest,
    notices: Notices,
    theme: ThemeModel,
) -> None:
    """Episodes are sorted and filtered; the steps of one are shown and exported."""
    run_id = daemon.submit(steps=1000, episode_length=4)
    daemon.until(run_id)
    table = live.episodes
    view = EpisodesView(table, theme)
    qtbot.addWidget(view)
    live.show(run_id)
    qtbot.waitUntil(lambda: table.rowCount() == 250, timeout=TIMEOUT_MS)

    def returns() -> list[float]:
        rows = [table.row_at(number) for number in range(min(5, table.rowCount()))]
        return [row.total_return for row in rows if row is not None]

    table.sort(EpisodeColumn.RETURN, Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: len(returns()) == 5, timeout=TIMEOUT_MS)
    assert returns() == sorted(returns(), reverse=True)
    table.filter_return(returns()[3], None)
    qtbot.waitUntil(lambda: table.rowCount() == 4, timeout=TIMEOUT_MS)
    assert view.bar._count.text() == "4 of 250 episodes"
    view.bar._filter.click()
    assert view.focusWidget() is view._status
    table.filter_status("truncated")
    qtbot.waitUntil(lambda: not table.is_loading, timeout=TIMEOUT_MS)
    assert table.rowCount() == 0

    live.pin_episode(17)
    steps = live.steps
    qtbot.waitUntil(
        lambda: steps.episode == 17 and steps.index(3, 0).data() != LOADING_TEXT,
        timeout=TIMEOUT_MS,
    )
    assert [steps.index(row, 0).data() for row in range(4)] == ["0", "1", "2", "3"]
    assert steps.as_tsv([0, 3]).count("\n") == 3
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    steps.export_csv()
    qtbot.waitUntil(lambda: bool(posted), timeout=TIMEOUT_MS)
    assert posted[0].action == "Show"
    (file,) = (daemon.home.path / "exports").iterdir()
    assert file.name in posted[0].message
    assert file.name.endswith("episode 17 steps.csv")
    assert len(file.read_text().splitlines()) == 5


def test_worker_that_reports_metrics_only(
    qtbot: QtBot,
    live: LiveModel,
    link: TrainerLink,
    give_bundles: Callable[..., None],
    theme: ThemeModel,
) -> None:
    """The banner explains it, the run can be restarted, and the checkbox is saved."""
    give_bundles(Home(link.home.path), "cleanrl_worker")
    tab = LiveTab(live, theme)
    qtbot.addWidget(tab)
    config = {"worker": "cleanrl_worker", "algo": "dqn", "env_id": "CartPole-v1"}
    run = link.client.submit({**config, "total_timesteps": 100_000, "priority": -1})
    live.show(run.run_id)
    qtbot.waitUntil(lambda: live.is_metrics_only, timeout=TIMEOUT_MS)
    assert tab.banner.message == (
        "CleanRL worker streams metrics via TensorBoard/W&B; live telemetry not available."
    )

    qtbot.waitUntil(
        lambda: live.placeholder_text == ("This worker reports metrics only.", ""),
        timeout=TIMEOUT_MS,
    )

    def can_restart() -> bool:
        return live.can_restart

    assert can_restart()
    live.set_minimal_telemetry(True)
    assert live.uses_minimal_telemetry
    link.client.cancel(run.run_id, grace_s=0.0)
    live.restart()
    assert not can_restart()
    qtbot.waitUntil(can_restart, timeout=TIMEOUT_MS)
    again = next(run for run in link.client.runs() if run.run_id != live.run_id)
    assert b'"steps":"sampled"' in link.client.run(again.run_id).config_json
    link.client.cancel(again.run_id, grace_s=0.0)


def test_an_imported_run_with_code_is_not_restarted(
    qtbot: QtBot,
    live: LiveModel,
    link: TrainerLink,
    give_bundles: Callable[..., None],
    theme: ThemeModel,
    tmp_path: Path,
) -> None:
    """The banner explains how to train it again."""
    give_bundles(Home(link.home.path), "cleanrl_worker")
    tab = LiveTab(live, theme)
    qtbot.addWidget(tab)
    config = {"worker": "cleanrl_worker", "algo": "dqn", "env_id": "CartPole-v1"}
    run = link.client.submit({**config, "total_timesteps": 100, "python_path": [str(tmp_path)]})
    link.client.cancel(run.run_id, grace_s=0.0)
    link.client.wait(run.run_id, TIMEOUT_MS / 1000)
    link.client.export_run(run.run_id, tmp_path / "run.tar.gz")
    link.client.delete(run.run_id)
    live.show(link.client.import_run(tmp_path / "run.tar.gz").run_id)
    qtbot.waitUntil(lambda: live.is_metrics_only, timeout=TIMEOUT_MS)
    assert not live.can_restart
    assert '"Duplicate as new draft" shows that code first' in tab.banner.message


def test_steps_table_is_never_empty_between_episodes(
    qtbot: QtBot, live: LiveModel, daemon: DaemonUnderTest
) -> None:
    """The rows of an episode stay until the next one has some."""
    live.show(daemon.submit(steps=1_000_000, rate=100, episode_length=20))
    steps = live.steps
    qtbot.waitUntil(lambda: steps.rowCount() > 0, timeout=TIMEOUT_MS)
    seen: set[int] = set()

    def check() -> None:
        assert steps.rowCount() > 0
        if steps.episode is not None:
            seen.add(steps.episode)

    steps.changed.connect(check)
    qtbot.waitUntil(lambda: len(seen) > 2, timeout=TIMEOUT_MS)


def test_run_selected_during_a_request_gets_its_steps(
    qtbot: QtBot, live: LiveModel, tasks: Tasks, daemon: DaemonUnderTest
) -> None:
    """A finished run sends no further updates, so its first request must not be lost."""
    first, second = (daemon.submit(steps=20, episode_length=4) for _ in range(2))
    daemon.until(first)
    daemon.until(second)
    for run_id in (first, second) * 3:
        live.show(run_id)
        qtbot.waitUntil(lambda: tasks.is_busy, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: live.steps.rowCount() == 4, timeout=TIMEOUT_MS)


def test_frames_are_read_only_while_the_tab_is_visible(
    qtbot: QtBot, live: LiveModel, daemon: DaemonUnderTest
) -> None:
    """A hidden tab is not updated; once visible it shows the newest step."""
    updates: list[bool] = []
    live.frame_changed.connect(lambda: updates.append(True))
    live.set_visible(False)
    live.show(daemon.submit(steps=1_000_000, rate=100, episode_length=20))
    updates.clear()
    qtbot.waitUntil(lambda: live.steps.rowCount() > 0, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: live.step is not None, timeout=TIMEOUT_MS)
    assert updates == []
    live.set_visible(True)
    qtbot.waitUntil(lambda: bool(updates), timeout=TIMEOUT_MS)
