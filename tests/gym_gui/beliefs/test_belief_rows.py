"""Which rows stand for what an agent believes."""

from gym_gui.beliefs.model.beliefs_model import ShownMind
from gym_gui.beliefs.view.bdi_cards import belief_rows
from gym_gui.beliefs.view.bdi_list import MindRow


def rows(beliefs: str, *, added: str = "", removed: str = "", with_gone: bool = True) -> list[str]:
    mind = ShownMind(
        beliefs=tuple(beliefs.split()),
        added=frozenset(added.split()),
        removed=frozenset(removed.split()),
    )
    return [row.words for row in belief_rows(mind, with_gone=with_gone)]


def test_another_value_is_one_row() -> None:
    """It says what the value was before, as long as that is shown."""
    there = rows("phase(a) rate(1) rate(2)", added="rate(2)", removed="rate(1)")
    assert there == ["phase(a)", "rate(2) (was 1)"]
    assert there == rows(
        "phase(a) rate(1) rate(2)", added="rate(2)", removed="rate(1)", with_gone=False
    )


def test_several_of_a_name_come_and_go_by_themselves() -> None:
    """Nobody can say which took the place of which; nor of what has no value."""
    assert rows("at(1) at(2) at(3)", added="at(2) at(3)", removed="at(1)") == [
        "at(1) (gone)",
        "at(2) (new)",
        "at(3) (new)",
    ]
    assert rows("keen keen(1)", added="keen(1)", removed="keen") == ["keen (gone)", "keen(1) (new)"]


def test_what_is_gone_goes_out_of_sight() -> None:
    """And a long value before is not squeezed into the row."""
    long = f"map({'x' * 40})"
    assert rows(f"{long} map(y)", added="map(y)", removed=long) == [
        f"{long} (gone)",
        "map(y) (new)",
    ]
    assert rows("a b", removed="a", with_gone=False) == ["b"]
    assert MindRow("a").words == "a"
