"""`mosaic bundles`: the environments that workers run in."""

import click
import msgspec

from mosaic.cli import exit_codes, formats
from mosaic.cli.bundle_installation import install_bundle
from mosaic.cli.completions import complete_bundles
from mosaic.cli.connecting import connected
from mosaic.cli.lazy_group import LazyCommand, LazyGroup
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import Cell, print_json, print_table, say, state_text
from mosaic.contract.layout import Home
from mosaic.contract.readiness import BundleInfo

_COMMANDS = {
    "list": LazyCommand("mosaic.cli.bundles:list_bundles", "The bundles there are."),
    "install": LazyCommand("mosaic.cli.bundles:install", "Install one, or repair it."),
    "remove": LazyCommand("mosaic.cli.bundles:remove", "Remove what no run needs."),
}
_COLUMNS = ("BUNDLE", "STATE", "EXTRAS", "PYTHON", "PACKAGES", "SIZE", "RUNS", "HASH", "WORKERS")


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def bundles() -> None:
    """Environments that workers run in. A run installs its own when it is missing."""


@click.command("list")
@json_option
@home_option
def list_bundles(home: Home, as_json: bool) -> None:
    """The bundles there are, installed or not."""
    with connected(home) as client:
        found = client.bundles()
    if as_json:
        print_json({"bundles": found})
        return
    print_table(
        _COLUMNS, map(_row, found), right=("PACKAGES", "SIZE", "RUNS"), cut=("EXTRAS", "WORKERS")
    )
    for info in found:
        if info.problem:
            say(f"{info.name}: {info.problem} {info.remedy}".rstrip(), style="yellow")


@click.command()
@click.argument("name", shell_complete=complete_bundles)
@click.option("--extra", "extras", multiple=True, help="Such as atari; may be given again.")
@click.option("--repair", is_flag=True, help="Make it anew even when it seems to be in order.")
@json_option
@home_option
def install(home: Home, name: str, extras: tuple[str, ...], repair: bool, as_json: bool) -> int:
    """Install the bundle NAME, so that the first run need not wait for it."""
    with connected(home, start=True) as client:
        bundle = install_bundle(client, name, extras, repair=repair)
    if as_json:
        print_json(bundle)
    elif bundle:
        click.echo(f"{bundle.name} {bundle.state}: {bundle.packages} packages in {bundle.path}")
    return 0 if bundle is not None and bundle.state == "ready" else exit_codes.FAILED


@click.command()
@click.argument("name", shell_complete=complete_bundles)
@click.option("--hash", "hash_", default="", help="Only the one with this hash.")
@json_option
@home_option
def remove(home: Home, name: str, hash_: str, as_json: bool) -> None:
    """Remove the environments of the bundle NAME that no run needs."""
    with connected(home) as client:
        outcome = client.remove_bundle(name, hash=hash_)
    if as_json:
        print_json(msgspec.to_builtins(outcome))
        return
    for path in outcome.removed:
        click.echo(f"removed {path}")
    for reason in outcome.kept:
        click.echo(f"kept {reason}")
    click.echo(f"{formats.size(outcome.freed_bytes)} freed.")


def _row(info: BundleInfo) -> tuple[Cell, ...]:
    return (
        info.name,
        state_text(info.state),
        ", ".join(info.available_extras if info.state == "missing" else info.extras),
        info.python,
        str(info.packages) if info.packages else "",
        formats.size(info.size_bytes) if info.size_bytes else "",
        str(info.runs) if info.runs else "",
        info.hash,
        ", ".join(info.workers),
    )
