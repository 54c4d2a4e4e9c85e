"""Output on a narrow terminal: tables that fit, and text that is wrapped between words."""

import io

import pytest
from rich.cells import cell_len
from rich.text import Text

from mosaic.cli import render
from mosaic.cli.doctor import Finding, print_finding
from tests.support.mosaic_cli import Mosaic

COLUMNS = ("ID", "NAME", "WORKER", "STEPS")
ROW = ("B8SD141W", "a run with a long name", "spade_bdi_rl_worker", "20,000")


def print_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> tuple[list[str], str]:
    """The lines of a table with one row, and the message below it."""
    monkeypatch.setenv("COLUMNS", str(columns))
    render.print_table(COLUMNS, [ROW], right=("STEPS",), cut=("NAME",), hide=("WORKER",))
    printed = capsys.readouterr()
    return printed.out.splitlines(), printed.err


def test_a_wide_terminal_shows_everything(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the given order, without a message."""
    lines, message = print_row(monkeypatch, capsys, 80)
    assert lines[1].split("  ") == list(ROW)
    assert message == ""


def test_text_is_shortened_before_columns_are_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An ellipsis marks shortened text; ids and numbers stay complete."""
    lines, message = print_row(monkeypatch, capsys, 50)
    assert lines[1].split("  ") == ["B8SD141W", "a run with…", "spade_bdi_rl_worker", "20,000"]
    assert message == ""


def test_a_message_names_hidden_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, so that stdout has only the table."""
    lines, message = print_row(monkeypatch, capsys, 40)
    assert lines[1].split("  ") == ["B8SD141W", "a run with a long name", "20,000"]
    assert "Hidden columns: WORKER." in message


def test_commands_are_not_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that they can be copied from the terminal."""
    monkeypatch.setenv("COLUMNS", "40")
    text = Text("Run `mosaic bundles install NAME` to install it.")
    render.print_wrapped(text, header="warning  ")
    assert capsys.readouterr().out.splitlines() == [
        "warning  Run",
        "         `mosaic bundles install NAME`",
        "         to install it.",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_fields_are_wrapped_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prose between words; a path stays in one piece."""
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    path = "/home/ada/experiments/var/trainer/runs"
    render.print_fields([("about", "trains small agents in a terminal"), ("path", path)])
    assert terminal.getvalue().splitlines() == [
        "about  trains small agents in",
        "       a terminal",
        f"path   {path}",
    ]


@pytest.fixture(scope="module")
def mosaic_with_runs(shared_mosaic: Mosaic) -> Mosaic:
    """With a run that has a long name and a checkpoint."""
    name = "a baseline with a rather long name"
    shared_mosaic.ok(
        "train", "echo_worker", "--env", "Echo-v0", "--name", name, "--set", "steps=20", "--json"
    )
    return shared_mosaic


@pytest.mark.process
@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    "command",
    [
        ["runs", "list"],
        ["workers"],
        ["bundles", "list"],
        ["checkpoints", "list"],
        ["envs"],
        ["envs", "FrozenLake-v1"],
        ["telemetry", "last", "steps"],
        ["telemetry", "last", "episodes"],
        ["telemetry", "last", "metrics"],
        ["workers", "echo_worker", "--algo", "echo"],
    ],
    ids=" ".join,
)
def test_no_line_is_wider_than_the_terminal(
    mosaic_with_runs: Mosaic, monkeypatch: pytest.MonkeyPatch, command: list[str], columns: int
) -> None:
    """Wide columns are shortened or hidden."""
    monkeypatch.setattr(mosaic_with_runs, "columns", columns)
    lines = mosaic_with_runs.ok(*command).splitlines()
    assert lines
    assert [line for line in lines if cell_len(line) > columns] == []


def test_findings_of_doctor_are_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Message and remedy are indented below the name of the check."""
    monkeypatch.setenv("COLUMNS", "60")
    finding = Finding(
        check="worker cleanrl_worker",
        status="warning",
        message="the first run installs its bundle cleanrl_worker",
        remedy="Install it now: `mosaic bundles install cleanrl_worker`.",
    )
    print_finding(finding)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 60] == []
    assert lines[0].startswith("warning  worker cleanrl_worker:")
    assert all(line.startswith(" " * 9) for line in lines[1:])
