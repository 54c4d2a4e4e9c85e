"""Who acted, in words that are known from elsewhere in the window."""

from gym_gui.runtime.models.actor_text import actor_label


def test_a_saved_policy_is_called_by_its_run() -> None:
    """Its id would say nothing; the end of the run's id stands in the list of runs too."""
    assert actor_label("01M7JC1H0G4377E6FS4AGQ0NYH.e174f0c4a7dd") == "policy GQ0NYH"
    assert actor_label("human") == "you"
    assert actor_label("cleanrl_worker") == "cleanrl worker"
