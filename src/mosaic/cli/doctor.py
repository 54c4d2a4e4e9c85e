"""`mosaic doctor`: what works here and what is missing, with remedies."""

import importlib
from collections.abc import Iterable

import click

from mosaic.cli import exit_codes, formats
from mosaic.cli.findings import Finding
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json, result_console, state_text
from mosaic.contract.layout import Home


@click.command()
@json_option
@home_option
def doctor(home: Home, as_json: bool) -> int:
    """Say what works here and what is missing, and what to do about it. Needs no daemon."""
    look: Iterable[Finding] = importlib.import_module("mosaic.cli.doctor_checks").look_at(home)
    findings = []
    for finding in look:
        findings.append(finding)
        if not as_json:
            _print(finding)
    problems = sum(finding.status == "problem" for finding in findings)
    if as_json:
        print_json({"findings": findings, "problems": problems})
    elif problems:
        click.echo(f"\n{formats.amount(problems, 'problem')}.")
    else:
        click.echo("\nAll that is needed is there.")
    return exit_codes.FAILED if problems else 0


def _print(finding: Finding) -> None:
    console = result_console()
    line = state_text(finding.status)
    line.append(" " * (9 - len(finding.status)), "default")
    line.append(f"{finding.check}: {finding.message}", "default")
    console.print(line, soft_wrap=True)
    if finding.remedy:
        console.print(f"         {finding.remedy}", soft_wrap=True)
