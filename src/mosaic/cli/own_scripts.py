"""`--script`: somebody's own training script, which a worker runs instead of its algorithms."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

script_option = click.option(
    "--script",
    metavar="PATH",
    callback=lambda _ctx, _parameter, given: whole_path(given),
    help="A training script of your own, where the worker runs such.",
)


def whole_path(given: str | None) -> str | None:
    """The path from the root on; the name of a module, which is no path, as it is."""
    if given is None:
        return None
    path = Path(given).expanduser()
    is_file = path.is_file()
    if not is_file and "/" not in given and not given.endswith(".py"):
        return given
    if not is_file:
        raise click.UsageError(f"--script {given}: there is no such file.")
    return str(path.absolute())


def described(client: "TrainerClient", worker: str, script: str | None) -> WorkerDescriptor:
    """The worker, with the script as its only algorithm where one is given.

    A script by name may be found only in the environment of its run: then there is none.
    """
    try:
        return client.describe(worker, script)
    except UserError:
        if script is None or "/" in script:
            raise
    return msgspec.structs.replace(client.describe(worker), algorithms=())
