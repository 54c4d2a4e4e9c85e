"""Preflight checks and dry runs, for commands that start runs."""

import shlex
from typing import Any

import click
import msgspec

from mosaic.cli.render import (
    print_fields,
    print_json,
    print_message,
    result_console,
    state_text,
)
from mosaic.contract.formatting import format_count, format_duration, format_size
from mosaic.contract.readiness import DryRunReport, PreflightReport


def confirm_preflight(report: PreflightReport, force: bool) -> bool:
    """Print warnings and blocking checks; return whether the run may start."""
    for item in report.items:
        if item.status != "ok":
            style = "red" if item.status == "blocking" else "yellow"
            print_message(f"{item.status}: {item.message} {item.remedy}".rstrip(), style=style)
    if not report.is_blocked or force:
        return True
    print_message("The run was not started. Pass --force to start it anyway.")
    return False


def rejected_document(report: PreflightReport) -> dict[str, Any]:
    """Return the JSON document of a run that was not started."""
    blocking = [item.message for item in report.items if item.status == "blocking"]
    return {
        "run_id": None,
        "state": "refused",
        "exit_code": None,
        "reason": " ".join(blocking),
        "digest": None,
        "preflight": report,
    }


def print_preflight(report: PreflightReport, as_json: bool) -> None:
    """Print every check, and the expected duration, speed and memory."""
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
            ("expected duration", format_duration(report.expected_duration_s)),
            ("expected steps per second", format_count(report.expected_sps)),
            ("expected memory", format_size(memory) if memory else ""),
            ("based on earlier runs", str(report.earlier_runs or "")),
        ]
    )
    if report.command:
        console.print(f"Command: {shlex.join(report.command)}", soft_wrap=True)


def print_dry_run(report: DryRunReport, as_json: bool) -> None:
    """Print the worker's answer unchanged."""
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
    print_message(f"Command of the run: {shlex.join(report.run_command)}")
    if not report.ok:
        print_message(f"The worker rejected it with exit code {report.exit_code}.", style="red")
