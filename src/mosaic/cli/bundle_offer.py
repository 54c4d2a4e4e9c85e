"""A replay needs the bundle of its run: when that is gone, installing it is offered."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from mosaic.cli.bundle_installation import install_bundle
from mosaic.cli.output import say
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import load_run_config
from mosaic.trainer.simulation.errors import BUNDLE_MISSING

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

Result = TypeVar("Result")


def with_its_bundle(
    client: "TrainerClient", run_id: str, install: bool | None, attempt: Callable[[], Result]
) -> Result:
    """What `attempt` gives; made again after the bundle that it lacked was installed.

    `install` None: whoever sits at a terminal is asked; elsewhere the error says the command.
    """
    try:
        return attempt()
    except UserError as error:
        if error.code != BUNDLE_MISSING or not _may_install(error, install):
            raise
    install_bundle(client, *_bundle_of(client, run_id))
    return attempt()


def missing_bundle(client: "TrainerClient", run_id: str) -> str:
    """The command that installs what a replay of the run lacks; empty when it lacks nothing."""
    name, extras = _bundle_of(client, run_id)
    if not name:
        return ""
    use = client.run(run_id).bundle
    for info in client.bundles():
        is_its_own = use is not None and (info.name, info.hash) == (use.name, use.hash)
        if is_its_own and info.state in ("ready", "outdated"):
            return ""
        if info.name == name and info.state == "ready" and set(extras) <= set(info.extras):
            return ""
    return " ".join([f"mosaic bundles install {name}", *(f"--extra {each}" for each in extras)])


def _may_install(error: UserError, install: bool | None) -> bool:
    if install is not None:
        return install
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    say(error.message, style="yellow")
    return click.confirm("Install it now?", default=True, err=True)


def _bundle_of(client: "TrainerClient", run_id: str) -> tuple[str, tuple[str, ...]]:
    """As the run had it; of a run that came from elsewhere, as it was asked for. May be empty."""
    details = client.run(run_id)
    if details.bundle is not None:
        return details.bundle.name, details.bundle.extras
    config = load_run_config(details.config_json)
    extras = config.bundle.extras if config.bundle else ()
    if config.bundle is not None and config.bundle.name is not None:
        return config.bundle.name, extras
    return client.worker(details.run.worker, config.script).bundle, extras
