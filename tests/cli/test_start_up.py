"""Start-up of the program, usage errors, and documentation of all commands."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mosaic.cli.main import mosaic as root
from tests.support.mosaic_cli import Mosaic

_PAGE = Path(__file__).parents[2] / "docs" / "user-guide" / "command-line.md"


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every command that is not a group."""
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from commands(below, (*path, name))


ALL_COMMANDS = sorted(commands(root))


def find(path: tuple[str, ...]) -> click.Command:
    command: click.Command = root
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


@pytest.mark.parametrize("path", ALL_COMMANDS, ids=" ".join)
def test_every_command_is_documented_with_its_options(path: tuple[str, ...]) -> None:
    """On the page docs/user-guide/command-line.md."""
    text = _PAGE.read_text()
    written = re.escape(" ".join(("mosaic", *path))).replace(r"telemetry\ ", r"telemetry\ RUN\ ")
    assert re.search(rf"`{written}[ `]", text), " ".join(path)
    for parameter in find(path).params:
        if isinstance(parameter, click.Option):
            name = max(parameter.opts, key=len)
            assert f"`{name}" in text, f"{' '.join(path)} {name}"


@pytest.mark.parametrize("path", ALL_COMMANDS, ids=" ".join)
def test_every_command_and_option_has_help(path: tuple[str, ...]) -> None:
    """Including the common options --home and --json."""
    command = find(path)
    assert command.help
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert all(option.help for option in options), [
        option.name for option in options if not option.help
    ]
    names = {name for option in options for name in option.opts}
    if path != ("completion",):
        assert "--home" in names
    if path not in (("completion",), ("daemon", "run"), ("gui",)):
        assert "--json" in names


def imported_by(*arguments: str) -> set[str]:
    """The modules that a command imports."""
    code = (
        "import sys, json\n"
        "from mosaic.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    modules: list[str] = json.loads(done.stderr)
    return set(modules)


@pytest.mark.process
def test_help_is_light() -> None:
    """Help does not import gRPC, rich or the trainer."""
    modules = imported_by("--help")
    assert not modules & {"grpc", "rich", "mosaic.trainer", "mosaic.telemetry", "zstandard"}


@pytest.mark.parametrize("path", ALL_COMMANDS, ids=" ".join)
@pytest.mark.process
def test_help_of_a_command_needs_no_grpc(path: tuple[str, ...]) -> None:
    """So that it is printed quickly."""
    if path[0] == "telemetry":
        path = ("telemetry", "last", *path[1:])
    assert "grpc" not in imported_by(*path, "--help")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["demo", "--steps", "many"], "--steps"),
        (["demo", "--no-such-option"], "--no-such-option"),
        (["demo", "--stpes", "3"], "--steps"),
        (["no-such-command"], "no-such-command"),
        (["trian"], "'train'"),
        (["runs", "lst"], "'list'"),
        (["runs", "stop"], "--all"),
        (["telemetry", "last", "stat"], "'stats'"),
    ],
)
@pytest.mark.process
def test_usage_errors_are_explained(tmp_path: Path, arguments: list[str], expected: str) -> None:
    """The message on stderr names the error and a suggestion; the exit code is 2."""
    done = Mosaic(tmp_path)(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "--help" in done.stderr


@pytest.mark.process
def test_help_lists_every_command(tmp_path: Path) -> None:
    """It also describes the program."""
    printed = Mosaic(tmp_path).ok("--help")
    assert {path[0] for path in ALL_COMMANDS} <= set(printed.split())
    assert "reinforcement learning" in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs", "list"],
        ["runs", "show", "last"],
        ["runs", "watch"],
        ["runs", "stop", "--all"],
        ["bundles", "list"],
        ["daemon", "status"],
    ],
    ids=" ".join,
)
@pytest.mark.process
def test_read_only_commands_start_no_daemon(tmp_path: Path, arguments: list[str]) -> None:
    """Without a daemon they exit with code 3 and print how to start one."""
    mosaic = Mosaic(tmp_path)
    done = mosaic(*arguments, "--json")
    assert done.returncode == 3
    assert "mosaic daemon start" in json.loads(done.stdout)["remedy"]
    assert "mosaic daemon start" in done.stderr
    assert not mosaic.home.path.exists()


@pytest.mark.process
def test_home_is_accepted_before_and_after_commands(tmp_path: Path) -> None:
    """For nested commands too, and the last one wins."""
    mosaic = Mosaic(tmp_path)
    for arguments in (
        ["--home", "chosen", "runs", "list"],
        ["runs", "--home", "chosen", "list"],
        ["runs", "list", "--home", "chosen"],
        ["--home", "other", "runs", "list", "--home", "chosen"],
    ):
        assert str(tmp_path / "chosen") in mosaic(*arguments).stderr
