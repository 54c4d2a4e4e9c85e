"""The window outlives its daemon: killed under a live view, missing at the start, shared by two."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from gym_gui.runtime.trainer_link import LinkState
from gym_gui.shell.view.status_strip import StatusStrip
from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from tests.gym_gui.end_to_end.person import Person
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_STEPS = 30_000
_RATE = 3_000


def daemon_button(person: Person) -> QPushButton:
    """The words at the foot of the window that say how the daemon is."""
    strip = person.window.findChild(StatusStrip)
    assert isinstance(strip, StatusStrip)
    found = strip.findChild(QPushButton)
    assert isinstance(found, QPushButton)
    return found


def test_a_live_view_goes_on_after_the_daemon_was_killed(
    daemon: DaemonUnderTest, arrive: Callable[[Home], Person]
) -> None:
    """It says that the daemon is lost, goes on when it is back, and misses nothing."""
    person = arrive(daemon.home)
    live, words = person.models.live, daemon_button(person)
    person.wait(lambda: person.bench.link.is_ready)
    run_id = daemon.submit(steps=_STEPS, rate=_RATE, episode_length=50)
    person.wait(lambda: person.models.runs.by_id(run_id) is not None)
    person.bench.conduct.watch(run_id)
    person.wait(lambda: live.step is not None and live.episodes.rowCount() > 0)

    daemon.kill()
    person.wait(lambda: "lost" in words.text())
    assert person.bench.link.state is LinkState.LOST
    seen = live.step
    daemon.restart()

    person.wait(lambda: person.bench.link.is_ready and "lost" not in words.text())
    person.wait(lambda: live.step is not seen)
    assert "The daemon is back." in person.told
    assert daemon.until(run_id).state == RunState.SUCCEEDED
    person.wait(lambda: live.run is not None and live.run.state.is_final)
    record = person.models.runs.by_id(run_id)
    assert record is not None
    assert (record.digest.steps, record.digest.episodes) == (_STEPS, _STEPS // 50)
    person.wait(lambda: live.episodes.rowCount() == _STEPS // 50)
    with TrainerClient.connect(daemon.home, start=False) as client:
        last = client.episode_steps(run_id, _STEPS // 50 - 1)
    assert [step.step for step in last] == list(range(50))


def test_two_windows_show_the_same_runs(
    daemon: DaemonUnderTest, arrive: Callable[[Home], Person]
) -> None:
    """What is started is seen in both, while it runs and when it is over."""
    one, other = arrive(daemon.home), arrive(daemon.home)
    for person in (one, other):
        person.wait(partial(_is_ready, person))
    one.bench.conduct.demo.start_echo()
    one.wait(lambda: one.models.live.run_id)
    run_id = one.models.live.run_id
    other.wait(lambda: other.models.runs.by_id(run_id) is not None)
    other.bench.runs_view.select(run_id)
    other.wait(lambda: other.models.live.run_id == run_id and other.models.live.step is not None)

    other.command("run.stop")
    for person in (one, other):
        person.wait(partial(_is_cancelled, person, run_id))
    assert len(one.models.runs.runs) == len(other.models.runs.runs) == 1


def test_without_a_daemon_the_window_says_so_and_starts_one(
    empty_home: Home, arrive: Callable[[Home], Person]
) -> None:
    """It comes up all the same, and a click on the words that say it starts a daemon."""
    person = arrive(empty_home)
    words = daemon_button(person)
    person.wait(lambda: person.bench.link.state is LinkState.FAILED)
    assert person.window.isVisible()
    assert words.text() == "No daemon: click to start it"
    assert words.toolTip()

    person.click(words)

    person.wait(lambda: person.bench.link.is_ready)
    assert words.text().startswith("Daemon 127.0.0.1")
    assert person.bench.link.has_client


def _is_ready(person: Person) -> bool:
    return person.bench.link.is_ready


def _is_cancelled(person: Person, run_id: str) -> bool:
    run = person.models.runs.by_id(run_id)
    return run is not None and run.state is RunState.CANCELLED


@pytest.fixture
def empty_home(tmp_path: Path) -> Iterator[Home]:
    """Where nothing has happened yet; a daemon that a window starts there is ended."""
    under_test = DaemonUnderTest(tmp_path)
    yield under_test.home
    under_test.clean_up()
