"""Preflight and dry run as `mosaic train` shows them."""

import shlex
from typing import Any

import click
import msgspec

from mosaic.cli import formats
from mosaic.cli.output import print_fields, print_json, result_console, say, state_text
from mosaic.contract.readiness import DryRunReport, PreflightReport


def print_preflight(report: PreflightReport, as_json: bool) -> None:
    """Every check, and what to expect of the run."""
    if as_json:
        print_json({**msgspec.to_builtins(report), "is_blocked": report.is_blocked})
        return
    console = result_console()
    for item in report.items:
        line = state_text(item.status).append(f"  {item.check}: {item.message}", "default")
        console.print(line, soft_wrap=True)
        if item.remedy and item.status != "ok":
            console.print(f"  {item.remedy}", soft_wrap=True)
    memory = report.expected_memory_bytes
    print_fields(
        [
            ("expected duration", formats.duration(report.expected_duration_s)),
            ("expected steps a second", formats.count(report.expected_sps)),
            ("expected memory", formats.size(memory) if memory else ""),
            ("from earlier runs", str(report.earlier_runs or "")),
        ]
    )
    if report.command:
        console.print(f"Command: {shlex.join(report.command)}", soft_wrap=True)


def print_dry_run(report: DryRunReport, as_json: bool) -> None:
    """Exactly what the worker said."""
    if as_json:
        document: dict[str, Any] = msgspec.to_builtins(report)
        summary = document.pop("summary_json")
        document["summary"] = (
            None if summary is None else msgspec.json.decode(report.summary_json or b"")
        )
        print_json(document)
        return
    click.echo(report.output, nl=not report.output.endswith("\n"))
    if report.error_output:
        click.echo(report.error_output.rstrip("\n"), err=True)
    say(f"A run would start: {shlex.join(report.run_command)}")
    if not report.ok:
        say(f"The worker refused it with exit code {report.exit_code}.", style="red")
