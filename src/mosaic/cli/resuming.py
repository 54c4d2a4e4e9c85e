"""`mosaic train --resume`: going on where a run left off, and telling that one can."""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli import formats
from mosaic.cli.checkpoints.reference import find_checkpoint, newest_of
from mosaic.cli.output import say
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

RESUME = "resume"
"""In `metadata`: true says that the run goes on, and does not only begin from a checkpoint."""

_OF_THAT_RUN_ALONE = ("run_name", "parent_run", "warm_start", "actor", "lease_s")
_UNFINISHED = (RunState.FAILED, RunState.LOST, RunState.CANCELLED)


def resumed_document(client: "TrainerClient", reference: str, worker: str) -> dict[str, Any]:
    """The configuration of the run that is meant, to go on from what it saved last."""
    checkpoint = find_checkpoint(client, reference)
    if not checkpoint.run_id:
        raise click.UsageError(
            f"{reference} was imported, so no run can go on from it."
            f" Begin a new one: --warm-start {checkpoint.checkpoint_id}."
        )
    document: dict[str, Any] = msgspec.json.decode(client.run(checkpoint.run_id).config_json)
    if document["worker"] != worker:
        raise click.UsageError(
            f"{reference} is a run of {document['worker']}, not of {worker}."
            f" `mosaic train {document['worker']} --resume {reference}` goes on with it."
        )
    if document.get("script"):
        raise click.UsageError("Runs of scripts cannot be gone on with: start it anew.")
    _expect_resuming(client, document, checkpoint.checkpoint_id)
    for name in _OF_THAT_RUN_ALONE:
        document.pop(name, None)
    return {
        **document,
        "mode": "train",
        "warm_start": checkpoint.checkpoint_id,
        "parent_run": checkpoint.run_id,
        "metadata": {**document.get("metadata", {}), RESUME: True},
    }


def _expect_resuming(
    client: "TrainerClient", document: Mapping[str, Any], checkpoint_id: str
) -> None:
    """Raises `click.UsageError` where the worker would begin anew without a word."""
    worker = document["worker"]
    supports = client.describe(worker).supports
    if supports.resume:
        return
    remedy = "Start one anew, without --resume."
    if supports.warm_start:
        again = ["mosaic", "train", worker]
        if document.get("algo"):
            again += ["--algo", document["algo"]]
        again += ["--env", document["env_id"]]
        for name, value in document.get("env_kwargs", {}).items():
            again += ["--env-arg", f"{name}={msgspec.json.encode(value).decode()}"]
        again += ["--warm-start", checkpoint_id]
        remedy = f"Begin a new one with what it has learnt: `{shlex.join(again)}`."
    raise click.UsageError(f"{worker} cannot go on with a run that has ended. {remedy}")


def tell_how_to_resume(client: "TrainerClient", details: RunDetails) -> None:
    """Say the command, after a run that did not come to its end and can be gone on with."""
    run = details.run
    if run.state not in _UNFINISHED or run.mode != "train":
        return
    if msgspec.json.decode(details.config_json).get("script"):
        return  # a script begins at its beginning
    try:
        if not client.describe(run.worker).supports.resume or not newest_of(client, run.run_id):
            return
    except UserError:
        return  # it was only to be a hint
    say(f"Go on: `mosaic train {run.worker} --resume {formats.short_id(run.run_id)}`.")
