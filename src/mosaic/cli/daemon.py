"""`mosaic daemon`: start, run, stop and inspect the daemon."""

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from mosaic.cli.commands import ExitCode, command
from mosaic.cli.connection import connect
from mosaic.cli.formatting import format_time, pluralize
from mosaic.cli.options import home_option, json_option
from mosaic.cli.render import print_fields, print_json, print_message
from mosaic.contract.formatting import format_size
from mosaic.contract.layout import Home
from mosaic.contract.readiness import DaemonHealth

_FILE = click.Path(
    exists=True, dir_okay=False, resolve_path=True
)  # the daemon has another working directory
_SETTINGS: dict[str, tuple[Any, str]] = {
    "host": (str, "TCP address; TLS if not loopback. Default: a Unix domain socket."),
    "port": (click.IntRange(0, 65535), "TCP port, 0: any free one. Default: a Unix domain socket."),
    "tls_certificate": (_FILE, "PEM file of the TLS certificate chain."),
    "tls_key": (_FILE, "PEM file of the TLS private key."),
    "max_runs": (click.IntRange(1), "Maximum number of runs at the same time."),
    "cpus": (click.IntRange(1), "CPUs that all runs together may reserve."),
    "memory_mb": (click.IntRange(1), "Memory that all runs together may reserve, in MB."),
    "stop_grace_s": (float, "Seconds between asking a run to stop and killing it."),
    "stalled_after_s": (float, "Seconds without a heartbeat until a run gets a warning."),
    "min_free_disk_mb": (click.IntRange(0), "Free disk space needed to start a run, in MB."),
}

Command = TypeVar("Command", bound=Callable[..., Any])


def _settings_options(function: Command) -> Command:
    """Add the daemon's settings as options; `settings.toml` provides the others."""
    for name, (kind, text) in reversed(_SETTINGS.items()):
        metavar = "FILE" if kind is _FILE else "ADDRESS" if kind is str else "N"
        function = click.option(
            f"--{name.replace('_', '-')}", name, type=kind, metavar=metavar, help=text
        )(function)
    return function


@command(examples=["mosaic daemon start", "mosaic daemon start --max-runs 2"])
@_settings_options
@json_option
@home_option
def start(home: Home, as_json: bool, **settings: Any) -> None:
    """Start the daemon in the background, unless one is running for this home."""
    processes = importlib.import_module("mosaic.client.daemon_process")
    was_running = processes.probe(home) is not None
    health: DaemonHealth = processes.start_daemon(home, _arguments(settings))
    if as_json:
        print_json({**msgspec.to_builtins(health), "started": not was_running})
        return
    state = "is already running" if was_running else "started"
    click.echo(f"The daemon {state}: process {health.pid} at {health.address}.")


@command(examples=["mosaic daemon run --port 50060"])
@_settings_options
@home_option
def run(home: Home, **settings: Any) -> None:
    """Run the daemon in the foreground with its log, until Ctrl-C. Runs keep running."""
    command = [sys.executable, "-P", "-m", "mosaic.trainer.daemon", "--home", str(home.path)]
    # The daemon replaces this process, so that signals and the exit code are its own.
    os.execv(sys.executable, [*command, *_arguments(settings)])  # noqa: S606 - starts no shell


@command(examples=["mosaic daemon stop"])
@json_option
@home_option
def stop(home: Home, as_json: bool) -> None:
    """Stop the daemon and wait until it has exited.

    Runs keep running; the next daemon manages them.
    """
    runs_left: int | None = importlib.import_module("mosaic.client.daemon_process").stop_daemon(
        home
    )
    if as_json:
        print_json({"stopped": runs_left is not None, "runs_left_running": runs_left or 0})
    elif runs_left is None:
        print_message("No daemon is running for this home.")
    else:
        still_running = f" {pluralize(runs_left, 'run')} left running." if runs_left else ""
        click.echo(f"The daemon stopped.{still_running}")


@command(examples=["mosaic daemon status", "mosaic daemon status --json"])
@json_option
@home_option
def status(home: Home, as_json: bool) -> int:
    """Show daemon status. The exit code is 3 if no daemon is running."""
    with connect(home) as client:
        health = client.health()
    if as_json:
        print_json(health)
    else:
        _print(health)
    return ExitCode.FAILED if health.problems else 0


def _print(health: DaemonHealth) -> None:
    states = ", ".join(f"{number} {state}" for state, number in health.runs_by_state.items())
    print_fields(
        [
            ("address", health.address),
            ("process", f"{health.pid}, {format_size(health.rss_bytes)}"),
            ("version", health.version),
            ("started", f"{format_time(health.started_at)}"),
            ("home", f"{health.home}, {format_size(health.disk_free_bytes)} free"),
            ("runs", states or "none"),
            ("CPUs", f"{health.cpus_free} of {health.cpus} free"),
            ("memory", format_size(health.memory_mb * 1_000_000)),
            ("GPUs", ", ".join(health.gpus) or "none"),
            *(("problem", problem) for problem in health.problems),
        ]
    )


def _arguments(settings: dict[str, Any]) -> list[str]:
    return [
        part
        for name, value in settings.items()
        if value is not None
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]
