"""The command table: complete, without duplicates, and documented."""

from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence

from gym_gui.app.command_table import COMMANDS, MENUS, Command
from gym_gui.app.commands import page

_PAGE = Path(__file__).parents[3] / "docs" / "commands.md"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_is_described(command: Command) -> None:
    """Text in sentence case, a complete sentence as tip, an existing menu, an icon."""
    assert command.text[0].isupper()
    assert not command.text.endswith((".", ":", "..."))
    assert command.tip.endswith(".")
    assert command.menu in MENUS
    assert command.icon is not None


def test_texts_and_shortcuts_are_unique() -> None:
    """And every shortcut is valid."""
    keys = [QKeySequence(command.shortcut).toString() for command in COMMANDS if command.shortcut]
    assert all(keys)
    for values in (
        keys,
        [command.id for command in COMMANDS],
        [command.text for command in COMMANDS],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_the_page_is_up_to_date() -> None:
    """Update it with `python -m gym_gui.app.commands > docs/commands.md`."""
    assert _PAGE.read_text() == page()
