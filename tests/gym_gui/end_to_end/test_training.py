"""Training in the complete window: from the form to a finished or stopped run."""

import pytest

from gym_gui.runs.model.runs_columns import RunColumn
from tests.gym_gui.end_to_end.curves import drawn_returns, rises
from tests.gym_gui.end_to_end.person import LEARNS_MS, Person
from tests.gym_gui.end_to_end.trainer import Trainer

pytestmark = pytest.mark.process

BUNDLES = ("cleanrl_worker",)


def test_training_from_the_form(person: Person) -> None:
    """PPO learns CartPole: the run is listed, its curve rises, and its end reason is displayed.

    Launching does not switch the tab.
    """
    trainer = Trainer(person)
    person.centre.show_tab("raw")
    trainer.open_form()
    trainer.choose_environment("CartPole-v1")
    trainer.choose_agent("CleanRL Worker · DQN")
    trainer.choose_agent("CleanRL Worker · PPO")
    trainer.write("run", "total_timesteps", "8000")
    assert trainer.dock.launch_bar.consent.isHidden()
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
    assert "Finished." in trainer.run_texts()
    person.wait(lambda: drawn_returns(person)[-1][0] > 7_000)
    assert rises(drawn_returns(person))


def test_stopping_a_run_in_the_list(person: Person) -> None:
    """List and dock show the same state, and Stop is disabled afterwards."""
    trainer = Trainer(person)
    stop = person.bench.runs_view.bar.buttons["stop"]
    trainer.open_form()
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
    assert any("window" in text for text in trainer.run_texts())


def test_a_failed_dry_run(person: Person) -> None:
    """The output of the worker and its command become visible."""
    trainer = Trainer(person)
    trainer.open_form()
    trainer.choose_environment("CartPole-v1")
    trainer.choose_agent("CleanRL Worker · PPO")
    trainer.write("params", "gamma", "2")
    notes = trainer.dock.notes
    assert not notes.isVisible()

    person.click_on("Dry run")

    person.wait(lambda: notes.isVisible() and not notes.text.visibleRegion().isEmpty())
    title, *lines = trainer.notes().splitlines()
    assert title.startswith("✕ Dry run of CleanRL Worker · PPO failed after ")
    assert any("params.gamma: 2.0 is" in line for line in lines), lines
    assert any(line.startswith("$ ") and "--dry-run" in line for line in lines), lines
    person.click_on("Clear", notes)
    assert not notes.isVisible()
