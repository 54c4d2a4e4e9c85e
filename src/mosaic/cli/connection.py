"""Access to the daemon. gRPC is imported when a command runs, not for its help."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import msgspec

from mosaic.cli.render import print_message
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


@contextmanager
def connect(home: Home, *, start: bool = False) -> "Iterator[TrainerClient]":
    """Connect to the daemon of `home`.

    `start` starts a daemon if none is running. Commands that only read do not start one; they end
    with exit code 3.
    """
    client_type: type[TrainerClient] = importlib.import_module(
        "mosaic.client.trainer_client"
    ).TrainerClient
    if start:
        ensure_daemon(home)
    with client_type.connect(home) as client:
        yield client


def ensure_daemon(home: Home) -> bool:
    """Start a daemon if none is running, and print how to stop it. Returns whether it started."""
    daemon_process = importlib.import_module("mosaic.client.daemon_process")
    if daemon_process.probe(home) is not None:
        return False
    daemon_process.start_daemon(home)
    click.echo(
        f"Started the trainer daemon of {home.path}; `mosaic daemon stop` stops it.", err=True
    )
    return True


def print_daemon_problems(client: "TrainerClient") -> None:
    """Print what is wrong with the daemon, such as a full disk, to stderr."""
    for problem in client.health().problems:
        print_message(problem, style="yellow")


def describe_worker(client: "TrainerClient", worker: str, script: str | None) -> WorkerDescriptor:
    """Return the worker's descriptor; a given script is its only algorithm.

    A script given by module name may exist only in the bundle of its run. Then the descriptor has
    no algorithm.
    """
    try:
        return client.describe(worker, script)
    except UserError:
        if script is None or "/" in script:
            raise
    return msgspec.structs.replace(client.describe(worker), algorithms=())
