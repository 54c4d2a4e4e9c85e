"""CKPT on a command line: a checkpoint's id, a part of it, or the run that saved it."""

from typing import TYPE_CHECKING

import click

from mosaic.cli.completion import complete_runs
from mosaic.client.errors import RunReferenceError, TrainerError
from mosaic.contract.errors import UserError
from mosaic.contract.storage import CheckpointRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

NO_CHECKPOINT = "C250"
"""A run has saved no checkpoint, or no checkpoint has that id."""
_MIN_ID_CHARACTERS = 4
_MAX_LISTED = 5
_NOT_FOUND = "NOT_FOUND"

checkpoint_argument = click.argument("checkpoint", metavar="CKPT", shell_complete=complete_runs)
checkpoints_argument = click.argument(
    "references", metavar="CKPT…", nargs=-1, required=True, shell_complete=complete_runs
)


def find_checkpoint(client: "TrainerClient", reference: str) -> CheckpointRecord:
    """Return the referenced checkpoint. Raises `UserError` if there is none, or more than one."""
    known = list(client.checkpoints())
    text = reference.upper()
    exact = [checkpoint for checkpoint in known if checkpoint.checkpoint_id.upper() == text]
    matches = exact or [checkpoint for checkpoint in known if _matches(checkpoint, text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(checkpoint.checkpoint_id for checkpoint in matches[:_MAX_LISTED])
        raise UserError(
            f"'{reference}' matches {len(matches)} checkpoints: {ids}.",
            remedy="Give more characters of the id.",
            code=NO_CHECKPOINT,
        )
    return _newest_of_run(client, reference)


def _matches(checkpoint: CheckpointRecord, text: str) -> bool:
    """Compare with the end of the id; with the beginning unless that is the id of a run."""
    known = checkpoint.checkpoint_id.upper()
    has_own_beginning = checkpoint.source == "imported" or "." in text
    return len(text) >= _MIN_ID_CHARACTERS and (
        known.endswith(text) or (has_own_beginning and known.startswith(text))
    )


def newest_checkpoint(client: "TrainerClient", run_id: str) -> CheckpointRecord | None:
    """Return the checkpoint that the run saved last."""
    return next(iter(client.checkpoints(run_id=run_id)), None)


def _newest_of_run(client: "TrainerClient", reference: str) -> CheckpointRecord:
    try:
        run_id = client.resolve(reference)
        newest = newest_checkpoint(client, run_id)
    except TrainerError as error:
        if not isinstance(error, RunReferenceError) and error.status != _NOT_FOUND:
            raise
        raise UserError(
            f"There is no checkpoint '{reference}', and no such run.",
            remedy="`mosaic checkpoints list` lists them.",
            code=NO_CHECKPOINT,
        ) from None
    if newest is None:
        raise UserError(
            f"Run {run_id} has saved no checkpoint.",
            remedy="Train with --checkpoint-every N, if the worker saves checkpoints;"
            " `mosaic checkpoints list` lists them.",
            code=NO_CHECKPOINT,
        )
    return newest
