"""Values as text: short values in full, large arrays by their shape."""

import json

from gym_gui.widgets.raw_text import format_json, format_readable


def test_nested_values_are_indented_and_numbers_are_short() -> None:
    """Each scalar is on one line."""
    text = format_readable(
        {"observation": {"image": 1 / 3, "mission": "go"}, "info": {}, "actor": None}
    )
    assert text.splitlines() == [
        "observation:",
        "  image: 0.333333",
        "  mission: go",
        "info: {}",
        "actor: none",
    ]


def test_an_image_is_abbreviated_but_complete_as_json() -> None:
    """The readable text has only the shape and the first numbers."""
    image = [[[0, 0, 255]] * 40 for _ in range(30)]
    text = format_readable({"observation": image})
    assert "array 30 \N{MULTIPLICATION SIGN} 40 \N{MULTIPLICATION SIGN} 3" in text
    assert len(text) < 120
    assert json.loads(format_json({"observation": image}))["observation"] == image


def test_a_small_matrix_has_one_line_per_row() -> None:
    """Small matrices are not abbreviated."""
    assert format_readable([[1, 2], [3, 4]]).splitlines()[1:] == ["  [1, 2]", "  [3, 4]"]
