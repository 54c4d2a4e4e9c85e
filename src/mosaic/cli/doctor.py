"""`mosaic doctor`: checks this installation and prints remedies."""

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from mosaic.cli import exit_codes
from mosaic.cli.commands import command
from mosaic.cli.formatting import pluralize
from mosaic.cli.options import home_option, json_option
from mosaic.cli.render import print_json, result_console, state_text
from mosaic.contract.layout import Home

if TYPE_CHECKING:
    from mosaic.cli.doctor_checks import Finding


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
            _print(finding)
    problems = sum(finding.status == "problem" for finding in findings)
    if as_json:
        print_json({"findings": findings, "problems": problems})
    elif problems:
        click.echo(f"\n{pluralize(problems, 'problem')}.")
    else:
        click.echo("\nNo problems found.")
    return exit_codes.FAILED if problems else 0


def _print(finding: "Finding") -> None:
    console = result_console()
    line = state_text(finding.status)
    line.append(" " * (9 - len(finding.status)), "default")
    line.append(f"{finding.check}: {finding.message}", "default")
    console.print(line, soft_wrap=True)
    if finding.remedy:
        console.print(f"         {finding.remedy}", soft_wrap=True)
