"""What a person may write for a checkpoint: its id, a part of it, or the run that saved it."""

from typing import TYPE_CHECKING

import click

from mosaic.cli.completions import complete_runs
from mosaic.client.errors import RunReferenceError, TrainerError
from mosaic.contract.errors import UserError
from mosaic.contract.storage import CheckpointRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

NO_CHECKPOINT = "C250"
"""A run has saved no checkpoint, or no checkpoint is called so."""
_LEAST_LETTERS = 4
_MOST_LISTED = 5
_NOT_FOUND = "NOT_FOUND"

checkpoint_argument = click.argument("checkpoint", metavar="CKPT", shell_complete=complete_runs)
checkpoints_argument = click.argument(
    "references", metavar="CKPT…", nargs=-1, required=True, shell_complete=complete_runs
)


def find_checkpoint(client: "TrainerClient", reference: str) -> CheckpointRecord:
    """The checkpoint that is meant. Raises `UserError` when that is none, or not clear."""
    known = list(client.checkpoints())
    wanted = reference.upper()
    exact = [each for each in known if each.checkpoint_id.upper() == wanted]
    found = exact or [each for each in known if _may_be(each, wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(each.checkpoint_id for each in found[:_MOST_LISTED])
        raise UserError(
            f"'{reference}' could be {len(found)} checkpoints: {ids}.",
            remedy="Give more letters of the id.",
            code=NO_CHECKPOINT,
        )
    return _newest_of_run(client, reference)


def _may_be(checkpoint: CheckpointRecord, wanted: str) -> bool:
    """By the end of its id; by the beginning where that is not the id of a run."""
    known = checkpoint.checkpoint_id.upper()
    is_its_own = checkpoint.source == "imported" or "." in wanted
    return len(wanted) >= _LEAST_LETTERS and (
        known.endswith(wanted) or (is_its_own and known.startswith(wanted))
    )


def newest_of(client: "TrainerClient", run_id: str) -> CheckpointRecord | None:
    """What the run saved last."""
    return next(iter(client.checkpoints(run_id=run_id)), None)


def _newest_of_run(client: "TrainerClient", reference: str) -> CheckpointRecord:
    try:
        run_id = client.resolve(reference)
        newest = newest_of(client, run_id)
    except TrainerError as error:
        if not isinstance(error, RunReferenceError) and error.status != _NOT_FOUND:
            raise
        raise UserError(
            f"There is no checkpoint '{reference}', and no run of that name.",
            remedy="`mosaic checkpoints list` shows those there are.",
            code=NO_CHECKPOINT,
        ) from None
    if newest is None:
        raise UserError(
            f"Run {run_id} has saved no checkpoint.",
            remedy="Train with --checkpoint-every N, where the worker saves any;"
            " `mosaic checkpoints list` shows those there are.",
            code=NO_CHECKPOINT,
        )
    return newest
