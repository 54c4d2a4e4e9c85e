"""The table of commands: complete, without clashes, and as the page describes it."""

from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence

from gym_gui.app.command_page import page
from gym_gui.app.command_table import COMMANDS, MENUS, Command

_PAGE = Path(__file__).parents[3] / "docs" / "commands.md"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_says_what_it_does(command: Command) -> None:
    """In sentence case, with a whole sentence to explain it, in a menu that there is."""
    assert command.text[0].isupper()
    assert not command.text.endswith((".", ":", "..."))
    assert command.tip.endswith(".")
    assert command.menu in MENUS
    assert command.icon is not None


def test_no_two_commands_share_a_name_or_keys() -> None:
    """And all keys are keys that Qt knows."""
    keys = [QKeySequence(command.shortcut).toString() for command in COMMANDS if command.shortcut]
    assert all(keys)
    for values in (keys, [command.id for command in COMMANDS], [each.text for each in COMMANDS]):
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_the_page_is_in_step_with_the_table() -> None:
    """Written anew by `python -m gym_gui.app.command_page > docs/commands.md`."""
    assert _PAGE.read_text() == page()
