"""The help of every command: its sentences, its examples, its width, and all names it must keep."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest

from mosaic.cli.commands import LazyGroup, MosaicCommand
from mosaic.cli.main import mosaic as root

RELEASED: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "data" / "commands.json").read_bytes()
)
"""Arguments and options of every released command. Add to it, but never remove from it."""

IMPERATIVES = frozenset(
    [
        "Add",
        "Check",
        "Create",
        "Delete",
        "Evaluate",
        "Export",
        "Hide",
        "Import",
        "Install",
        "List",
        "Manage",
        "Open",
        "Pause",
        "Play",
        "Print",
        "Read",
        "Remove",
        "Rename",
        "Replace",
        "Replay",
        "Resume",
        "Run",
        "Search",
        "Show",
        "Start",
        "Stop",
        "Verify",
        "Watch",
        "Write",
    ]
)
MAX_HELP_LENGTH = 13  # in words


def walk(
    command: click.Command, name: str = "mosaic", parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Every command and group, each as a context to print its help with."""
    context = click.Context(
        command, info_name=name, parent=parent, **(root.context_settings if not parent else {})
    )
    yield context
    if isinstance(command, click.Group):
        for child_name in command.list_commands(context):
            child = command.get_command(context, child_name)
            assert child is not None
            yield from walk(child, child_name, context)


def path_of(context: click.Context) -> str:
    names = []
    while context.parent is not None:
        names.append(context.info_name or "")
        context = context.parent
    return " ".join(["mosaic", *reversed(names)])


CONTEXTS = {path_of(context): context for context in walk(root)}
every_command = pytest.mark.parametrize("path", CONTEXTS)


def first_sentence(text: str) -> str:
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=\.) ", paragraph)[0]


@every_command
def test_help_starts_with_an_imperative_sentence(path: str) -> None:
    """So does the summary in the list of its group."""
    context = CONTEXTS[path]
    sentence = first_sentence(context.command.help or "")
    assert re.split(r"[ ,]", sentence)[0] in IMPERATIVES, sentence
    assert sentence.endswith(".")
    if context.parent is not None:
        group = context.parent.command
        assert isinstance(group, LazyGroup)
        summary = group.lazy[context.info_name or ""].summary
        assert re.split(r"[ ,]", summary)[0] in IMPERATIVES, summary
        assert summary.endswith(".")


@every_command
def test_every_option_is_explained_in_a_short_sentence(path: str) -> None:
    """In sentence case, with a full stop."""
    for option in CONTEXTS[path].command.params:
        if isinstance(option, click.Option):
            text = option.help or ""
            assert text, option.name
            assert text.endswith("."), text
            assert text[0].isupper(), text
            assert len(text.split()) <= MAX_HELP_LENGTH, text


@every_command
def test_option_names_leave_room_for_their_help(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """The first column takes at most a third of a narrow terminal, and lists options only."""
    monkeypatch.setenv("COLUMNS", "60")
    help_text = CONTEXTS[path].get_help()
    rows = help_text.partition("\nOptions:\n")[2].partition("\n\n")[0].splitlines()
    names = [row for row in rows if row.startswith("  -")]
    continued = [row for row in rows if row not in names]
    assert len(names) == len(
        [option for option in CONTEXTS[path].command.params if isinstance(option, click.Option)]
    ) + ("--help" in help_text)
    assert all(len(row) - len(row.lstrip()) <= 24 for row in continued)


@every_command
def test_help_ends_with_examples(path: str) -> None:
    """Each is a command that exists, with options that it has."""
    command = CONTEXTS[path].command
    assert isinstance(command, (MosaicCommand, LazyGroup))
    assert 1 <= len(command.examples) <= 3
    assert CONTEXTS[path].get_help().rpartition("\n\n")[2].startswith("Examples:\n")
    for example in command.examples:
        parts = example.split()
        assert "mosaic" in example
        if parts[0] != "mosaic":
            continue
        known = set(RELEASED["mosaic"])
        for name, members in RELEASED.items():
            if set(name.split()) <= {*parts, "start", "show"}:
                known.update(members)
        options = [word for word in parts if word.startswith("--")]
        assert set(options) <= known, example


@every_command
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, path: str, columns: int
) -> None:
    """Down to 60 columns; an example that is longer continues after a backslash."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = CONTEXTS[path].get_help().splitlines()
    assert [line for line in lines if len(line) > columns] == []
    examples = lines[lines.index("Examples:") + 1 :]
    continued = [line.endswith(" \\") for line in examples]
    assert not continued[-1]
    for (line, following), is_continued in zip(pairwise(examples), continued, strict=False):
        assert following.startswith("      ") == is_continued, line


@pytest.mark.parametrize("path", RELEASED)
def test_released_names_still_exist(path: str) -> None:
    """Scripts depend on the names of commands, arguments and options."""
    names: set[str] = set()
    for parameter in CONTEXTS[path].command.params:
        if isinstance(parameter, click.Option):
            names.update(parameter.opts, parameter.secondary_opts)
        else:
            names.add(parameter.human_readable_name)
    assert set(RELEASED[path]) <= names


def test_the_program_groups_its_commands() -> None:
    """By task: play, train, look at results, manage."""
    lines = CONTEXTS["mosaic"].get_help().splitlines()
    headings = [line for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    assert headings == [
        "Options:",
        "Play:",
        "Train:",
        "Look at results:",
        "Manage:",
        "Examples:",
    ]
