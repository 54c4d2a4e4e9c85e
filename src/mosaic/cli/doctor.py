"""`mosaic doctor`: checks this installation and prints remedies."""

import importlib
from collections.abc import Iterable
from typing import Literal

import click
import msgspec
from rich.text import Text

from mosaic.cli.commands import ExitCode, command
from mosaic.cli.formatting import pluralize
from mosaic.cli.options import home_option, json_option
from mosaic.cli.render import print_json, print_wrapped, state_text
from mosaic.contract.layout import Home

Status = Literal["ok", "warning", "problem"]
_STATUS_WIDTH = 9


class Finding(msgspec.Struct, kw_only=True, frozen=True):
    """The result of one check."""

    check: str
    status: Status
    message: str
    remedy: str = ""


@command(examples=["mosaic doctor", "mosaic doctor --json"])
@json_option
@home_option
def doctor(home: Home, as_json: bool) -> int:
    """Check this installation and print remedies. Works without a daemon."""
    checks = importlib.import_module("mosaic.cli.doctor_checks")  # imports gRPC
    results: Iterable[Finding] = checks.run_checks(home)
    findings = []
    for finding in results:
        findings.append(finding)
        if not as_json:
            print_finding(finding)
    problems = sum(finding.status == "problem" for finding in findings)
    if as_json:
        print_json({"findings": findings, "problems": problems})
    elif problems:
        click.echo(f"\n{pluralize(problems, 'problem')}.")
    else:
        click.echo("\nNo problems found.")
    return ExitCode.FAILED if problems else 0


def print_finding(finding: Finding) -> None:
    """Print the finding and its remedy, wrapped to the width of the terminal."""
    header = state_text(finding.status)
    header.append(" " * (_STATUS_WIDTH - len(finding.status)))
    print_wrapped(Text(f"{finding.check}: {finding.message}"), header=header)
    if finding.remedy:
        print_wrapped(Text(finding.remedy), header=" " * _STATUS_WIDTH)
