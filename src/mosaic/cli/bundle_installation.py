"""Installing a bundle with a progress bar, for whichever command needs one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mosaic.cli.output import message_console
from mosaic.contract.readiness import BundleInfo, InstallProgress

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


def install_bundle(
    client: "TrainerClient", name: str, extras: Sequence[str] = (), *, repair: bool = False
) -> BundleInfo | None:
    """The bundle as it is when the installation is over. Raises what the daemon answers."""
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
