"""`mosaic runs show`, and a run as one JSON document."""

import json
import shlex
from typing import Any

import msgspec

from mosaic.cli.commands import command
from mosaic.cli.connection import connect, print_daemon_problems
from mosaic.cli.formatting import format_number, format_time, run_duration_s, run_title
from mosaic.cli.options import home_option, json_option, run_argument
from mosaic.cli.render import print_fields, print_json, result_console, state_text
from mosaic.contract.formatting import format_count, format_duration, format_size
from mosaic.contract.imported_code import describe_code
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunDetails, RunStats


@command(examples=["mosaic runs show last", "mosaic runs show last --json"])
@run_argument
@json_option
@home_option
def show(home: Home, run: str, as_json: bool) -> None:
    """Show everything about one run.

    Configuration, command, environment, history, artifacts, stats, exit code and last output.
    """
    with connect(home) as client:
        details = client.run(client.resolve(run))
        print_daemon_problems(client)
    if as_json:
        print_json(run_document(details, home))
    else:
        _print(details, home)


def run_document(details: RunDetails, home: Home) -> dict[str, Any]:
    """Return the run as one JSON object: its record, with configuration, manifest and history."""
    extra = msgspec.to_builtins(details)
    record = extra.pop("run")
    for name in ("config", "resolved", "manifest", "withheld"):
        text = getattr(details, f"{name}_json")
        del extra[f"{name}_json"]
        extra[name] = None if text is None else msgspec.json.decode(text)
    extra["directory"] = str(home.path / details.directory)
    return {**record, **extra}


def _print(details: RunDetails, home: Home) -> None:
    run, withheld = details.run, details.withheld_json
    console = result_console()
    console.print(f"{run_title(run)}", style="bold")
    print_fields(
        [
            ("id", run.run_id),
            ("state", state_text(run.state)),
            ("reason", run.reason),
            ("remedy", run.remedy),
            ("exit code", "" if run.exit_code is None else str(run.exit_code)),
            *(("warning", warning) for warning in run.warnings),
            (
                "queue",
                "" if details.queue_position is None else f"position {details.queue_position}",
            ),
            ("created", format_time(run.created_at)),
            ("duration", format_duration(run_duration_s(run))),
            ("seed", str(run.seed)),
            ("priority", str(run.priority) if run.priority else ""),
            ("tags", ", ".join(run.tags)),
            ("note", run.note),
            ("archived", "yes" if run.archived else ""),
            ("imported", "yes" if run.imported else ""),
            *(("not used", code) for code in describe_code(msgspec.json.decode(withheld))),
            ("parent", run.parent_run or ""),
            ("directory", str(home.path / details.directory)),
        ]
    )
    _section("Stats", stats_fields(run.digest))
    _section("Configuration", _config_fields(details))
    if details.command:
        console.print("\nCommand", style="bold")
        console.print(f"  {shlex.join(details.command)}", soft_wrap=True)
    if details.bundle:
        use = details.bundle
        _section(
            "Environment",
            [
                ("bundle", " ".join([use.name, *use.extras])),
                ("path", use.path),
                ("python", use.python),
                ("packages", ", ".join(f"{k} {v}" for k, v in sorted(use.packages.items()))),
                ("sources", use.code_path),
            ],
        )
    _section("Artifacts", _artifact_fields(details.manifest_json))
    _section(
        "History",
        [
            (format_time(change.t), " ".join((f"{change.state:<10}", change.reason)).rstrip())
            for change in details.history
        ],
    )
    if details.output_tail:
        console.print("\nLast output", style="bold")
        for line in details.output_tail:
            console.print(f"  {line}", soft_wrap=True)


def stats_fields(digest: RunStats) -> list[tuple[str, str]]:
    """Return the stats of a run by name."""
    return [
        ("steps", f"{digest.steps_done:,}"),
        ("episodes", f"{digest.episodes:,}"),
        ("metric points", f"{digest.metrics:,}"),
        ("mean return", format_number(digest.mean_return)),
        ("latest return", format_number(digest.latest_return)),
        ("steps per second", format_count(digest.sps)),
        ("memory", format_size(digest.rss_bytes) if digest.rss_bytes else ""),
        ("disk usage", format_size(digest.disk_bytes) if digest.disk_bytes else ""),
        ("lines that failed to parse", f"{digest.rejects:,}" if digest.rejects else ""),
        ("bytes written", f"{digest.spool_bytes:,}"),
        ("bytes stored", f"{digest.committed_bytes:,}"),
    ]


def _section(name: str, fields: list[tuple[str, str]]) -> None:
    present = [(f"  {label}", value) for label, value in fields if value]
    if present:
        result_console().print(f"\n{name}", style="bold")
        print_fields(present)


def _config_fields(details: RunDetails) -> list[tuple[str, str]]:
    """Return the requested configuration, and the arguments as the worker resolved them."""
    config: dict[str, Any] = msgspec.json.decode(details.config_json)
    fields = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in config.items()
        if value not in (None, {}, [], "")
    ]
    if details.resolved_json:
        resolved = msgspec.json.decode(details.resolved_json)
        fields.append(("resolved", json.dumps(resolved.get("args", {}), ensure_ascii=False)))
    return fields


def _artifact_fields(manifest_json: bytes) -> list[tuple[str, str]]:
    manifest: dict[str, Any] = msgspec.json.decode(manifest_json)
    fields: list[tuple[str, str]] = []
    for name, value in manifest.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                fields.append((name, f"{item['path']}  {format_size(item['size_bytes'])}"))
            elif item:
                fields.append((name, str(item)))
    return fields
