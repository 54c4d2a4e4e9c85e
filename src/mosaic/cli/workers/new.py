"""`mosaic workers new NAME`: a working worker to begin with, where the daemon finds it."""

import importlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json, say
from mosaic.cli.workers.skeleton import FIRST_RUNS, TEMPLATES, expect_good_name, write_skeleton
from mosaic.cli.workers.unknown_worker import is_unknown_worker
from mosaic.cli.workers.worker_folders import SETTING, WorkerFolders
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.worker_manifest import WORKER_MANIFEST
from mosaic.trainer.workers.found_worker import sdk_sources


@click.command("new")
@click.argument("name")
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    default=TEMPLATES[0],
    show_default=True,
    help="What it learns with: Gymnasium alone, Stable-Baselines3, or RLlib.",
)
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Make its folder in here. Default: the first of the settings' worker_folders, else the"
    " current folder.",
)
@json_option
@home_option
def new(home: Home, name: str, template: str, into: Path | None, as_json: bool) -> None:
    """Write a worker called NAME that trains, plays and can be tested, to be made your own.

    The daemon is told where it is. Nothing that exists is changed but that one setting.
    """
    expect_good_name(name, template)
    folders = WorkerFolders(home)
    folder = (into or next(iter(folders.own), Path())).absolute()
    _expect_free_place(folders, folder, name)
    try:
        files = write_skeleton(folder / name, name, template, _sdk_to_install())
    except OSError as error:
        raise UserError(
            f"{folder / name} cannot be written: {error.strerror}.",
            remedy="Choose another folder with --into.",
        ) from error
    is_known = folders.has(folder)
    is_added = not is_known and folders.add(folder)
    has_to_restart = _a_daemon_does_not_know(home, name)
    if as_json:
        print_json(
            {
                "worker": name,
                "template": template,
                "folder": str(folder / name),
                "files": files,
                "found": is_known or is_added,
                "setting_changed": str(home.settings) if is_added else None,
                "restart_daemon": has_to_restart,
            }
        )
        return
    click.echo(f"{folder / name}")
    for file in files:
        click.echo(f"  {file}")
    if is_added:
        say(f"{home.settings} now names {folder} among its {SETTING}.")
    say("Next:")
    to_register = not (is_known or is_added)
    steps = _steps(home, folder / name, template, to_register=to_register, restart=has_to_restart)
    for number, step in enumerate(steps, 1):
        say(f"{number}. {step}")


def _expect_free_place(folders: WorkerFolders, folder: Path, name: str) -> None:
    target = folder / name
    if target.exists() or target.is_symlink():
        raise click.UsageError(
            f"{target} is there already, and nothing is overwritten."
            " Choose another name, or another folder with --into."
        )
    if (folder / WORKER_MANIFEST).is_file():
        raise click.UsageError(
            f"{folder} is a worker itself, and no worker is looked for inside one."
            " Choose another folder with --into."
        )
    place = folders.place_of(name)
    if place is not None:
        raise click.UsageError(f"There is a worker {name} in {place}. Choose another name.")


def _steps(
    home: Home, folder: Path, template: str, *, to_register: bool, restart: bool
) -> Iterator[str]:
    """What to do next with the worker in `folder`, each as a sentence."""
    name = folder.name
    if to_register:
        written = json.dumps(str(folder.parent), ensure_ascii=False)
        yield f"add {written} to `{SETTING}` in {home.settings}"
    if restart:
        yield "`mosaic daemon stop`: the next one knows the folder; runs go on meanwhile"
    yield f"`mosaic workers {name}` shows what it says of itself"
    yield f"`mosaic train {name} {FIRST_RUNS[template]}` installs its packages and trains"
    yield "`mosaic evaluate last` lets it play what it has learnt"
    yield f"{folder / 'README.md'} says where to begin with your own"


def _a_daemon_does_not_know(home: Home, name: str) -> bool:
    """Whether one runs that read the settings before the worker's folder was among them."""
    # gRPC takes long to import, and help needs none.
    if importlib.import_module("mosaic.client.daemon_process").probe(home) is None:
        return False
    try:
        with connected(home) as client:
            client.worker(name)
    except UserError as error:
        return is_unknown_worker(error)  # the worker is written, whatever else is amiss
    return False


def _sdk_to_install() -> str:
    """As pip takes it: the checkout's, or the distribution that is installed."""
    project = sdk_sources().path.parents[1]
    return (
        f"-e {shlex.quote(str(project))}"
        if (project / "pyproject.toml").is_file()
        else "mosaic-worker"
    )
