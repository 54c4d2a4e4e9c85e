"""`mosaic runs show`: everything about one run."""

import json
import shlex
from typing import Any

import click
import msgspec

from mosaic.cli import formats
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option, run_argument
from mosaic.cli.output import print_fields, print_json, result_console, state_text
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunDetails, RunStats


@click.command()
@run_argument
@json_option
@home_option
def show(home: Home, run: str, as_json: bool) -> None:
    """Configuration, command, environment, history, artifacts, numbers, exit and last output."""
    with connected(home) as client:
        details = client.run(client.resolve(run))
    if as_json:
        print_json(as_document(details, home))
    else:
        _print(details, home)


def as_document(details: RunDetails, home: Home) -> dict[str, Any]:
    """The run as one JSON object: the fields of its record, and what is known beyond them."""
    more = msgspec.to_builtins(details)
    record = more.pop("run")
    for name in ("config", "resolved", "manifest"):
        text = getattr(details, f"{name}_json")
        del more[f"{name}_json"]
        more[name] = None if text is None else msgspec.json.decode(text)
    more["directory"] = str(home.path / details.directory)
    return {**record, **more}


def _print(details: RunDetails, home: Home) -> None:
    run = details.run
    console = result_console()
    console.print(f"{formats.title(run)}", style="bold")
    print_fields(
        [
            ("id", run.run_id),
            ("state", state_text(run.state)),
            ("reason", run.reason),
            ("remedy", run.remedy),
            ("exit code", "" if run.exit_code is None else str(run.exit_code)),
            *(("warning", warning) for warning in run.warnings),
            ("queue", "" if details.queue_position is None else f"place {details.queue_position}"),
            ("created", formats.moment(run.created_at)),
            ("ran for", formats.duration(formats.run_time(run))),
            ("seed", str(run.seed)),
            ("priority", str(run.priority) if run.priority else ""),
            ("tags", ", ".join(run.tags)),
            ("note", run.note),
            ("archived", "yes" if run.archived else ""),
            ("parent", run.parent_run or ""),
            ("directory", str(home.path / details.directory)),
        ]
    )
    _section("Numbers", digest_fields(run.digest))
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
            (formats.moment(change.t), " ".join((f"{change.state:<10}", change.reason)).rstrip())
            for change in details.history
        ],
    )
    if details.output_tail:
        console.print("\nLast output", style="bold")
        for line in details.output_tail:
            console.print(f"  {line}", soft_wrap=True)


def digest_fields(digest: RunStats) -> list[tuple[str, str]]:
    """The numbers of a run, those that are known."""
    return [
        ("steps", f"{digest.steps_done:,}"),
        ("episodes", f"{digest.episodes:,}"),
        ("metric points", f"{digest.metrics:,}"),
        ("mean return", formats.real(digest.mean_return)),
        ("latest return", formats.real(digest.latest_return)),
        ("steps a second", formats.count(digest.sps)),
        ("memory", formats.size(digest.rss_bytes) if digest.rss_bytes else ""),
        ("disk use", formats.size(digest.disk_bytes) if digest.disk_bytes else ""),
        ("lines that are no events", f"{digest.rejects:,}" if digest.rejects else ""),
        ("bytes written", f"{digest.spool_bytes:,}"),
        ("bytes of these stored", f"{digest.committed_bytes:,}"),
    ]


def _section(name: str, fields: list[tuple[str, str]]) -> None:
    filled = [(f"  {label}", value) for label, value in fields if value]
    if filled:
        result_console().print(f"\n{name}", style="bold")
        print_fields(filled)


def _config_fields(details: RunDetails) -> list[tuple[str, str]]:
    """What was asked for, with what the worker made of it."""
    asked: dict[str, Any] = msgspec.json.decode(details.config_json)
    fields = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in asked.items()
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
                fields.append((name, f"{item['path']}  {formats.size(item['size_bytes'])}"))
            elif item:
                fields.append((name, str(item)))
    return fields
