"""`python -m gym_gui.app.command_page`: docs/commands.md, written from the table of commands."""

import sys

from gym_gui.app.command_table import COMMANDS, MENUS, Command

_HEAD = """\
# Commands of the window

Every command is in a menu, and in the command palette (Ctrl+Shift+P), where a few letters of its
name find it. A command that cannot be used now is grey and says why. On macOS, Ctrl is the command
key. The keys that act in an environment stand under it while you play.

This page is written from the table of commands by `python -m gym_gui.app.command_page`.
"""


def page() -> str:
    """All commands, menu by menu."""
    return "\n".join([_HEAD, *(_section(menu) for menu in MENUS)])


def _section(menu: str) -> str:
    rows = [_row(command) for command in COMMANDS if command.menu == menu]
    return "\n".join(
        (f"## {menu}", "", "| Command | Keys | What it does |", "|---|---|---|", *rows, "")
    )


def _row(command: Command) -> str:
    keys = f"`{command.shortcut}`" if command.shortcut else ""
    return f"| {command.text} | {keys} | {command.tip} |"


if __name__ == "__main__":
    sys.stdout.write(page())
