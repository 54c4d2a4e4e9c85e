"""The way of every command to the daemon. gRPC is imported here, when a command runs."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from mosaic.contract.layout import Home

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


@contextmanager
def connected(home: Home, *, start: bool = False) -> "Iterator[TrainerClient]":
    """A client for the daemon of `home`.

    Commands that begin something start a daemon when none runs; those that only look do not, and
    end with exit code 3.
    """
    client_type: type[TrainerClient] = importlib.import_module(
        "mosaic.client.trainer_client"
    ).TrainerClient
    if start:
        start_if_none_runs(home)
    with client_type.connect(home) as client:
        yield client


def start_if_none_runs(home: Home) -> bool:
    """Whether a daemon had to be started; says so, and how to stop it."""
    daemon_process = importlib.import_module("mosaic.client.daemon_process")
    if daemon_process.probe(home) is not None:
        return False
    daemon_process.start_daemon(home)
    click.echo(
        f"Started the trainer daemon of {home.path}; `mosaic daemon stop` stops it.", err=True
    )
    return True
