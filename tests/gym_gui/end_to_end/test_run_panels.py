"""What the panels show of a run, from its choice until it is gone."""

import pytest
from PySide6.QtWidgets import QLabel

from mosaic.client import TrainerClient
from tests.gym_gui.end_to_end.person import Person
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


def test_a_run_that_is_deleted_while_it_is_shown_goes_from_all_panels(
    person: Person, shared_daemon: DaemonUnderTest
) -> None:
    """Its log comes as soon as the run is in the list; nothing looks for it once it is gone."""
    run_id = shared_daemon.submit(steps=20, episode_length=4)
    models, conduct = person.models, person.bench.conduct
    conduct.show_run(run_id)
    person.wait(lambda: models.live.steps.rowCount() == 4 and models.log.run_id == run_id)
    shared_daemon.until(run_id)

    with TrainerClient.connect(shared_daemon.home) as client:
        client.delete(run_id)

    person.wait(lambda: not models.live.run_id)
    assert (models.live.steps.rowCount(), models.live.episodes.rowCount()) == (0, 0)
    assert (models.video.run_id, models.log.run_id) == ("", "")


def test_a_step_that_was_selected_is_shown_until_the_newest_is_followed_again(
    person: Person, shared_daemon: DaemonUnderTest
) -> None:
    """The inspector does not stay at an old step for ever."""
    person.bench.conduct.watch(shared_daemon.submit(steps=1_000_000, rate=50, episode_length=500))
    steps, inspector = person.bench.steps_view, person.bench.inspector

    def headings() -> list[str]:
        texts = [label.text() for label in inspector.findChildren(QLabel)]
        return [text for text in texts if text.startswith(("Step ", "Episode "))]

    person.wait(lambda: person.models.live.steps.row_at(2) is not None)
    steps.bar.follow.setChecked(False)
    steps.grid.selectRow(2)
    person.window.show_telemetry("step")
    assert headings() == ["Episode 0 · step 2"]

    steps.bar.follow.setChecked(True)

    assert headings() != ["Episode 0 · step 2"]
    person.models.run_actions.stop([person.models.live.run_id])


def test_a_tab_says_why_it_shows_nothing(person: Person) -> None:
    """As long as there is a reason, and no longer."""
    for reason in ("There is none.", "Not yet.", ""):
        person.centre.set_tab_reason("video", reason)
        assert person.centre.tab_reason("video") == reason
