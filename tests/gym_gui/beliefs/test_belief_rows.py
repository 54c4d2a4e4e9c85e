"""Rows of the beliefs of an agent."""

from gym_gui.beliefs.model.beliefs_model import DisplayedBdiState
from gym_gui.beliefs.view.bdi_cards import belief_rows
from gym_gui.beliefs.view.bdi_list import BdiRow


def rows(
    beliefs: str, *, added: str = "", removed: str = "", with_removed: bool = True
) -> list[str]:
    bdi_state = DisplayedBdiState(
        beliefs=tuple(beliefs.split()),
        added=frozenset(added.split()),
        removed=frozenset(removed.split()),
    )
    return [row.full_text for row in belief_rows(bdi_state, with_removed=with_removed)]


def test_a_changed_value_is_one_row() -> None:
    """The row shows the old value."""
    result = rows("phase(a) rate(1) rate(2)", added="rate(2)", removed="rate(1)")
    assert result == ["phase(a)", "rate(2) (was 1)"]
    assert result == rows(
        "phase(a) rate(1) rate(2)", added="rate(2)", removed="rate(1)", with_removed=False
    )


def test_several_beliefs_of_one_name_are_separate_rows() -> None:
    """It is ambiguous which belief replaced which; the same without a value."""
    assert rows("at(1) at(2) at(3)", added="at(2) at(3)", removed="at(1)") == [
        "at(1) (gone)",
        "at(2) (new)",
        "at(3) (new)",
    ]
    assert rows("keen keen(1)", added="keen(1)", removed="keen") == ["keen (gone)", "keen(1) (new)"]


def test_removed_beliefs_can_be_hidden() -> None:
    """A long old value is a separate row."""
    long = f"map({'x' * 40})"
    assert rows(f"{long} map(y)", added="map(y)", removed=long) == [
        f"{long} (gone)",
        "map(y) (new)",
    ]
    assert rows("a b", removed="a", with_removed=False) == ["b"]
    assert BdiRow("a").full_text == "a"
