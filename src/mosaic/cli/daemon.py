"""`mosaic daemon`: the process that starts and keeps runs."""

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from mosaic.cli import exit_codes, formats
from mosaic.cli.connecting import connected
from mosaic.cli.lazy_group import LazyCommand, LazyGroup
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_fields, print_json, say
from mosaic.contract.layout import Home
from mosaic.contract.readiness import DaemonHealth

_COMMANDS = {
    "start": LazyCommand("mosaic.cli.daemon:start", "Start it in the background."),
    "run": LazyCommand("mosaic.cli.daemon:run", "Run it here, in the foreground."),
    "stop": LazyCommand("mosaic.cli.daemon:stop", "Stop it; runs go on."),
    "status": LazyCommand("mosaic.cli.daemon:status", "Whether it runs, and how it is."),
}
_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True)  # the daemon works elsewhere
_SETTINGS: dict[str, tuple[Any, str]] = {
    "host": (str, "Where to listen. Default: 127.0.0.1; anything but loopback needs TLS."),
    "port": (click.IntRange(0, 65535), "Default: 50055, or a free one when that is taken."),
    "tls_certificate": (_FILE, "PEM file of the certificate chain."),
    "tls_key": (_FILE, "PEM file of its key."),
    "max_runs": (click.IntRange(1), "How many runs may have a process at once."),
    "cpus": (click.IntRange(1), "How many CPUs runs may ask for together."),
    "memory_mb": (click.IntRange(1), "How much memory runs may ask for together."),
    "stop_grace_s": (float, "Between asking a run to stop and ending it, in seconds."),
    "stalled_after_s": (float, "Without a heartbeat for so long, a run gets a warning."),
    "min_free_disk_mb": (click.IntRange(0), "With less than this no run is started."),
}

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def daemon() -> None:
    """The process that starts runs, keeps them and stores what they tell; one for each home."""


def _settings_options(command: Command) -> Command:
    """The daemon's settings, as options; what is not given comes from `settings.toml`."""
    for name, (kind, text) in reversed(_SETTINGS.items()):
        command = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=text)(command)
    return command


@click.command()
@_settings_options
@json_option
@home_option
def start(home: Home, as_json: bool, **settings: Any) -> None:
    """Start the daemon in the background, if none runs for this home."""
    processes = importlib.import_module("mosaic.client.daemon_process")
    was_running = processes.probe(home) is not None
    health: DaemonHealth = processes.start_daemon(home, _arguments(settings))
    if as_json:
        print_json({**msgspec.to_builtins(health), "started": not was_running})
        return
    words = "runs already" if was_running else "started"
    click.echo(f"The daemon {words}: process {health.pid} at {health.address}.")


@click.command()
@_settings_options
@home_option
def run(home: Home, **settings: Any) -> None:
    """Run the daemon here and show its log, until Ctrl-C. Runs go on after it."""
    command = [sys.executable, "-P", "-m", "mosaic.trainer.daemon", "--home", str(home.path)]
    # It takes this process's place, so that signals and the exit code are its own.
    os.execv(sys.executable, [*command, *_arguments(settings)])  # noqa: S606 - no shell is meant


@click.command()
@json_option
@home_option
def stop(home: Home, as_json: bool) -> None:
    """Stop the daemon and wait until it is gone. Runs go on; the next daemon takes them over."""
    left: int | None = importlib.import_module("mosaic.client.daemon_process").stop_daemon(home)
    if as_json:
        print_json({"stopped": left is not None, "runs_left_running": left or 0})
    elif left is None:
        say("No daemon runs for this home.")
    else:
        going_on = f" {formats.amount(left, 'run')} left running." if left else ""
        click.echo(f"The daemon stopped.{going_on}")


@click.command()
@json_option
@home_option
def status(home: Home, as_json: bool) -> int:
    """Whether the daemon runs, and how it is. Exit code 3 when it does not."""
    with connected(home) as client:
        health = client.health()
    if as_json:
        print_json(health)
    else:
        _print(health)
    return exit_codes.FAILED if health.problems else 0


def _print(health: DaemonHealth) -> None:
    states = ", ".join(f"{number} {state}" for state, number in health.runs_by_state.items())
    print_fields(
        [
            ("address", health.address),
            ("process", f"{health.pid}, {formats.size(health.rss_bytes)}"),
            ("version", health.version),
            ("started", f"{formats.moment(health.started_at)}"),
            ("home", f"{health.home}, {formats.size(health.disk_free_bytes)} free"),
            ("runs", states or "none"),
            ("CPUs", f"{health.cpus_free} of {health.cpus} free"),
            ("memory", formats.size(health.memory_mb * 1_000_000)),
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
