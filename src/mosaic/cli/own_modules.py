"""Modules of a person's own, which a run needs on its import path: environments and actors."""

from collections.abc import Sequence
from pathlib import Path

import click

_HELP = "A folder with modules of your own; may be given again."

path_option = click.option("--path", multiple=True, metavar="DIR", help=_HELP)


def own_folders(given: Sequence[str], *names: str) -> tuple[str, ...]:
    """The folders in full; also the current one, when it holds the module of a `module:Name`.

    A run has a working directory of its own, where nothing of the person's would be found.
    """
    folders = [Path(folder).expanduser() for folder in given]
    for folder in folders:
        if not folder.is_dir():
            raise click.UsageError(f"--path {folder}: there is no such folder.")
    here = Path.cwd()
    for name in names:
        module = name.rpartition(":")[0].partition(".")[0]
        if module and ((here / f"{module}.py").is_file() or (here / module).is_dir()):
            folders.append(here)
    return tuple(dict.fromkeys(str(folder.resolve()) for folder in folders))
