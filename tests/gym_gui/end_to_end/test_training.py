"""Training in the whole window: from the form to a run that has learned, or that is stopped."""

import pytest

from gym_gui.runs.model.runs_columns import RunColumn
from tests.gym_gui.end_to_end.curves import drawn_returns, rises
from tests.gym_gui.end_to_end.person import LEARNS_MS, Person
from tests.gym_gui.end_to_end.trainer import Trainer

pytestmark = pytest.mark.process

BUNDLES = ("cleanrl_worker",)


def test_training_from_the_form(person: Person) -> None:
    """PPO learns CartPole while one looks on: listed, its curve rises, and it is said how it ended.

    What is in front stays in front when it is launched.
    """
    trainer = Trainer(person)
    person.centre.show_tab("raw")
    trainer.begin()
    trainer.choose_environment("CartPole-v1")
    trainer.choose_agent("CleanRL Worker · DQN")
    trainer.choose_agent("CleanRL Worker · PPO")
    trainer.write("run", "total_timesteps", "8000")
    assert trainer.dock.foot.consent.isHidden()
    run_id = trainer.launch()
    person.wait(lambda: person.listed(run_id, RunColumn.STATE) == "● running")
    assert person.listed(run_id, RunColumn.ENVIRONMENT) == "CartPole-v1"
    assert person.listed(run_id, RunColumn.ALGORITHM) == "ppo"
    assert (person.centre.current, person.centre.shows_tabs) == ("raw", True)
    assert any("is launched" in words for words in person.told)

    person.open_run(run_id)
    assert person.centre.current == "charts"
    person.wait(lambda: drawn_returns(person), LEARNS_MS)
    early = drawn_returns(person)
    assert trainer.badge() == "● running"
    person.wait(lambda: len(drawn_returns(person)) > len(early), LEARNS_MS)

    person.wait(lambda: person.listed(run_id, RunColumn.STATE) == "✓ done", LEARNS_MS)
    person.wait(lambda: trainer.badge() == "✓ done")
    assert "Finished." in trainer.told_of_run()
    person.wait(lambda: drawn_returns(person)[-1][0] > 7_000)
    assert rises(drawn_returns(person))


def test_stopping_a_run_in_the_list(person: Person) -> None:
    """Its state is the same in the list and in the dock; then there is nothing more to stop."""
    trainer = Trainer(person)
    stop = person.bench.runs_view.bar.buttons["stop"]
    trainer.begin()
    trainer.choose_agent("Echo Worker · Echo")
    trainer.write("params", "steps", "1000000")
    trainer.write("params", "rate", "50")
    run_id = trainer.launch()
    person.wait(lambda: person.listed(run_id, RunColumn.STATE) == "● running")
    person.choose_run(run_id)
    person.click(stop)
    person.wait(lambda: person.listed(run_id, RunColumn.STATE) == "○ stopped")
    person.wait(lambda: trainer.badge() == "○ stopped")
    assert not stop.isEnabled()
    assert stop.toolTip() == "Stop: The run is over."
    assert any("window" in words for words in trainer.told_of_run())


def test_a_dry_run_that_fails(person: Person) -> None:
    """The worker's own words are brought into sight: what is wrong, where, and the command."""
    trainer = Trainer(person)
    trainer.begin()
    trainer.choose_environment("CartPole-v1")
    trainer.choose_agent("CleanRL Worker · PPO")
    trainer.write("params", "gamma", "2")
    notes = trainer.dock.notes
    assert not notes.isVisible()

    person.click_on("Dry run")

    person.wait(lambda: notes.isVisible() and not notes.text.visibleRegion().isEmpty())
    verdict, *told = trainer.notes().splitlines()
    assert verdict.startswith("✕ Dry run of CleanRL Worker · PPO failed after ")
    assert any("params.gamma: 2.0 is" in line for line in told), told
    assert any(line.startswith("$ ") and "--dry-run" in line for line in told), told
    person.click_on("Clear", notes)
    assert not notes.isVisible()
