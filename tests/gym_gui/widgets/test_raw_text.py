"""Values as text: short ones in full, long ones by their shape."""

import json

from gym_gui.widgets.raw_text import readable, whole


def test_nested_values_are_indented_and_numbers_are_short() -> None:
    """One line each where it fits."""
    text = readable({"observation": {"image": 1 / 3, "mission": "go"}, "info": {}, "actor": None})
    assert text.splitlines() == [
        "observation:",
        "  image: 0.333333",
        "  mission: go",
        "info: {}",
        "actor: none",
    ]


def test_a_picture_is_told_by_its_shape_and_copied_in_full() -> None:
    """Nobody reads ten thousand numbers; a program may."""
    picture = [[[0, 0, 255]] * 40 for _ in range(30)]
    text = readable({"observation": picture})
    assert "array 30 \N{MULTIPLICATION SIGN} 40 \N{MULTIPLICATION SIGN} 3" in text
    assert len(text) < 120
    assert json.loads(whole({"observation": picture}))["observation"] == picture


def test_a_small_table_is_shown_row_by_row() -> None:
    """As a grid that can be read."""
    assert readable([[1, 2], [3, 4]]).splitlines()[1:] == ["  [1, 2]", "  [3, 4]"]
