"""`mosaic bundles`, and installing a missing bundle for other commands."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click
import msgspec
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mosaic.cli.commands import ExitCode, command
from mosaic.cli.completion import complete_bundles
from mosaic.cli.connection import connect
from mosaic.cli.options import extras_option, home_option, json_option
from mosaic.cli.render import (
    Cell,
    message_console,
    print_json,
    print_message,
    print_table,
    state_text,
)
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_size
from mosaic.contract.layout import Home
from mosaic.contract.readiness import BundleInfo, InstallProgress
from mosaic.contract.run_config import load_run_config
from mosaic.trainer.simulation.errors import BUNDLE_MISSING

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_COLUMNS = ("BUNDLE", "STATE", "EXTRAS", "PYTHON", "PACKAGES", "SIZE", "RUNS", "HASH", "WORKERS")
Result = TypeVar("Result")


@command("list", examples=["mosaic bundles list"])
@json_option
@home_option
def list_bundles(home: Home, as_json: bool) -> None:
    """List bundles, installed or not."""
    with connect(home) as client:
        infos = client.bundles()
    if as_json:
        print_json({"bundles": infos})
        return
    print_table(
        _COLUMNS,
        map(_row, infos),
        right=("PACKAGES", "SIZE", "RUNS"),
        cut=("EXTRAS", "WORKERS"),
        hide=("WORKERS", "HASH", "PYTHON", "PACKAGES", "EXTRAS"),
    )
    for info in infos:
        if info.problem:
            print_message(f"{info.name}: {info.problem} {info.remedy}".rstrip(), style="yellow")


@command(
    examples=[
        "mosaic bundles install session_worker --extra mujoco",
        "mosaic bundles install cleanrl_worker --repair",
    ]
)
@click.argument("name", shell_complete=complete_bundles)
@extras_option
@click.option("--repair", is_flag=True, help="Reinstall even if it looks intact.")
@json_option
@home_option
def install(home: Home, name: str, extras: tuple[str, ...], repair: bool, as_json: bool) -> int:
    """Install the bundle NAME, so that its first run starts at once."""
    with connect(home, start=True) as client:
        bundle = install_bundle(client, name, extras, repair=repair)
    if as_json:
        print_json(bundle)
    elif bundle:
        click.echo(f"{bundle.name} {bundle.state}: {bundle.packages} packages in {bundle.path}")
    return 0 if bundle is not None and bundle.state == "ready" else ExitCode.FAILED


@command(examples=["mosaic bundles remove cleanrl_worker"])
@click.argument("name", shell_complete=complete_bundles)
@click.option(
    "--hash", "hash_", default="", metavar="HASH", help="Only the version with this hash."
)
@json_option
@home_option
def remove(home: Home, name: str, hash_: str, as_json: bool) -> None:
    """Remove the versions of the bundle NAME that no run uses."""
    with connect(home) as client:
        outcome = client.remove_bundle(name, hash=hash_)
    if as_json:
        print_json(msgspec.to_builtins(outcome))
        return
    for path in outcome.removed:
        click.echo(f"removed {path}")
    for reason in outcome.kept:
        click.echo(f"kept {reason}")
    click.echo(f"{format_size(outcome.freed_bytes)} freed.")


def _row(info: BundleInfo) -> tuple[Cell, ...]:
    return (
        info.name,
        state_text(info.state),
        ", ".join(info.available_extras if info.state == "missing" else info.extras),
        info.python,
        str(info.packages) if info.packages else "",
        format_size(info.size_bytes) if info.size_bytes else "",
        str(info.runs) if info.runs else "",
        info.hash,
        ", ".join(info.workers),
    )


def install_bundle(
    client: "TrainerClient", name: str, extras: Sequence[str] = (), *, repair: bool = False
) -> BundleInfo | None:
    """Install a bundle with a progress bar and return it. Raises the daemon's errors."""
    last: InstallProgress | None = None
    with (
        client.install_bundle(name, extras=extras, repair=repair) as messages,
        Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[message]}"),
            TimeElapsedColumn(),
            console=message_console(),
        ) as progress,
    ):
        task = progress.add_task("waiting", total=None, message="")
        for last in messages:
            progress.update(
                task,
                description=last.phase,
                total=last.total or None,
                completed=last.done,
                message=last.message,
            )
    return last.bundle if last else None


def retry_with_bundle(
    client: "TrainerClient", run_id: str, install: bool | None, attempt: Callable[[], Result]
) -> Result:
    """Call `attempt`; if the run's bundle is missing, install it and call `attempt` again.

    `install` None asks on a terminal; without one, the error names the command to run.
    """
    try:
        return attempt()
    except UserError as error:
        if error.code != BUNDLE_MISSING or not _confirm_install(error, install):
            raise
    install_bundle(client, *_bundle_of(client, run_id))
    return attempt()


def missing_bundle(client: "TrainerClient", run_id: str) -> str:
    """Return the command that installs the bundle for a replay; empty if it is installed."""
    name, extras = _bundle_of(client, run_id)
    if not name:
        return ""
    use = client.run(run_id).bundle
    for info in client.bundles():
        is_same = use is not None and (info.name, info.hash) == (use.name, use.hash)
        if is_same and info.state in ("ready", "outdated"):
            return ""
        if info.name == name and info.state == "ready" and set(extras) <= set(info.extras):
            return ""
    return " ".join([f"mosaic bundles install {name}", *(f"--extra {extra}" for extra in extras)])


def _confirm_install(error: UserError, install: bool | None) -> bool:
    if install is not None:
        return install
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    print_message(error.message, style="yellow")
    return click.confirm("Install it now?", default=True, err=True)


def _bundle_of(client: "TrainerClient", run_id: str) -> tuple[str, tuple[str, ...]]:
    """Return name and extras of the run's bundle, as used or else as requested. May be empty."""
    details = client.run(run_id)
    if details.bundle is not None:
        return details.bundle.name, details.bundle.extras
    config = load_run_config(details.config_json)
    extras = config.bundle.extras if config.bundle else ()
    if config.bundle is not None and config.bundle.name is not None:
        return config.bundle.name, extras
    return client.worker(details.run.worker, config.script).bundle, extras
