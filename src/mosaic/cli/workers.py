"""`mosaic workers show` and `new`."""

import importlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from rich.text import Text

from mosaic.cli.commands import command
from mosaic.cli.completion import complete_workers
from mosaic.cli.connection import connect
from mosaic.cli.options import home_option, json_option, script_option
from mosaic.cli.render import (
    print_fields,
    print_json,
    print_message,
    print_table,
    print_wrapped,
    result_console,
    state_text,
)
from mosaic.cli.worker_folders import (
    SETTING,
    WorkerFolders,
    is_unknown_worker,
    suggest_daemon_restart,
)
from mosaic.cli.worker_skeleton import FIRST_RUNS, TEMPLATES, check_name, write_skeleton
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, decode_descriptor
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.parameters import Parameter
from mosaic.contract.readiness import WorkerInfo
from mosaic.contract.worker_manifest import WORKER_MANIFEST
from mosaic.trainer.workers.found_worker import sdk_sources


@command("show", examples=["mosaic workers", "mosaic workers cleanrl_worker --algo ppo"])
@click.argument("worker", required=False, shell_complete=complete_workers)
@click.option("--algo", metavar="ID", help="Show only this algorithm, with its documentation.")
@script_option
@json_option
@home_option
def show(
    home: Home, worker: str | None, algo: str | None, script: str | None, as_json: bool
) -> None:
    """Show all workers and whether they are ready, or everything about one WORKER.

    With --script, show the parameters of that script instead of the worker's algorithms.
    """
    if (script or algo) and not worker:
        raise click.UsageError("--algo and --script need a WORKER.")
    with connect(home, start=True) as client:
        if worker:
            with suggest_daemon_restart(home, worker):
                infos = [client.worker(worker, script)]
        else:
            infos = client.workers()
    if as_json:
        documents = [_worker_document(info) for info in infos]
        print_json(documents[0] if worker else {"workers": documents})
    elif algo:
        _print_one_algorithm(infos[0], algo)
    elif worker:
        _print_worker(infos[0])
    else:
        _print_list(infos)


def _worker_document(info: WorkerInfo) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(info)
    del document["descriptor_json"]
    text = info.descriptor_json
    document["descriptor"] = None if text is None else msgspec.json.decode(text)
    return document


def _print_list(infos: list[WorkerInfo]) -> None:
    if not infos:
        print_message("No workers found. `mosaic workers new NAME` creates one.")
        return
    rows = []
    for info in infos:
        descriptor = _descriptor(info)
        algorithms = [algo.id for algo in descriptor.algorithms] if descriptor else []
        rows.append(
            (
                info.worker_id,
                info.version,
                state_text(_readiness(info)),
                info.bundle,
                ", ".join(algorithms),
                ", ".join(_capabilities(descriptor)) if descriptor else "",
            )
        )
    print_table(
        ("WORKER", "VERSION", "STATE", "BUNDLE", "ALGORITHMS", "SUPPORTS"),
        rows,
        cut=("ALGORITHMS", "SUPPORTS"),
        hide=("BUNDLE", "VERSION", "SUPPORTS"),
    )
    for info in infos:
        if info.problem:
            print_message(
                f"{info.worker_id}: {info.problem} {info.remedy}".rstrip(), style="yellow"
            )


def _print_worker(info: WorkerInfo) -> None:
    descriptor = _descriptor(info)
    console = result_console()
    console.print(info.label or info.worker_id, style="bold")
    print_fields(
        [
            ("id", info.worker_id),
            ("version", info.version),
            ("state", state_text(_readiness(info))),
            ("problem", info.problem),
            ("remedy", info.remedy),
            ("bundle", info.bundle),
            ("location", f"{info.location} ({info.source})"),
            *(_descriptor_fields(descriptor) if descriptor else ()),
        ]
    )
    for algorithm in descriptor.algorithms if descriptor else ():
        _print_algorithm(algorithm)


def _print_one_algorithm(info: WorkerInfo, algo: str) -> None:
    descriptor = _descriptor(info)
    known = {algorithm.id: algorithm for algorithm in descriptor.algorithms} if descriptor else {}
    if algo not in known:
        raise click.UsageError(
            f"{info.worker_id} has no algorithm {algo!r}. It has {', '.join(known) or 'none'}."
        )
    algorithm = known[algo]
    if algorithm.page:
        from rich.markdown import Markdown  # noqa: PLC0415 - slow to import

        result_console().print(Markdown(algorithm.page))
    _print_algorithm(algorithm)


def _descriptor_fields(descriptor: WorkerDescriptor) -> list[tuple[str, str]]:
    environments = descriptor.environments
    any_id = ("any id",) if environments.any else ()
    return [
        ("about", descriptor.summary),
        ("lane", descriptor.lane),
        ("modes", ", ".join(descriptor.modes)),
        ("environments", ", ".join((*any_id, *environments.families, *environments.ids))),
        ("supports", ", ".join(_capabilities(descriptor))),
        ("extras", ", ".join(descriptor.needs.extras)),
        ("services", ", ".join(descriptor.needs.services)),
        ("credentials", ", ".join(descriptor.needs.credentials)),
        ("licence", ", ".join(descriptor.licence)),
    ]


def _print_algorithm(algorithm: Algorithm) -> None:
    result_console().print(f"\n{algorithm.id}  {algorithm.doc}".rstrip(), style="bold")
    width = max((len(parameter.name) for parameter in algorithm.parameters), default=0)
    for parameter in algorithm.parameters:
        default = json.dumps(parameter.default, ensure_ascii=False)
        limits = f", {_limits(parameter)}" if _limits(parameter) else ""
        header = f"  {parameter.name:<{width}}  "
        indent = " " * len(header)
        print_wrapped(Text(f"{parameter.type}, default {default}{limits}"), header=header)
        if parameter.search:
            low, high = parameter.search
            scale = ", log scale" if parameter.log else ""
            print_wrapped(Text(f"search range {low:g}…{high:g}{scale}"), header=indent)
        if parameter.help:
            print_wrapped(Text(parameter.help), header=indent)


def _limits(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(map(str, parameter.choices))
    low, high = (_bound(bound) for bound in (parameter.min, parameter.max))
    return f"{low}…{high} {parameter.unit}".strip() if low or high else parameter.unit


def _bound(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def _readiness(info: WorkerInfo) -> str:
    if info.problem:
        return "broken" if info.descriptor_json is None else "problem"
    return "ready" if info.ready else "not installed"


def _capabilities(descriptor: WorkerDescriptor) -> list[str]:
    supports = msgspec.structs.asdict(descriptor.supports)
    return [name.replace("_", " ") for name, is_supported in supports.items() if is_supported]


def _descriptor(info: WorkerInfo) -> WorkerDescriptor | None:
    text = info.descriptor_json
    return None if text is None else decode_descriptor(text, info.worker_id)


@command(
    "new", examples=["mosaic workers new my_worker", "mosaic workers new my_sb3 --template sb3"]
)
@click.argument("name")
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    default=TEMPLATES[0],
    help="Gymnasium only, Stable-Baselines3 or RLlib. Default: plain.",
)
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Parent folder. Default: the first of worker_folders, else the current folder.",
)
@json_option
@home_option
def new(home: Home, name: str, template: str, into: Path | None, as_json: bool) -> None:
    """Create a worker called NAME from a template that trains, plays and has tests.

    Its folder is added to the daemon's settings. No other file is changed.
    """
    check_name(name, template)
    folders = WorkerFolders(home)
    folder = (into or next(iter(folders.own), Path())).absolute()
    _check_target(folders, folder, name)
    try:
        files = write_skeleton(folder / name, name, template, _sdk_requirement())
    except OSError as error:
        raise UserError(
            f"{folder / name} is not writable: {error.strerror}.",
            remedy="Choose another folder with --into.",
        ) from error
    is_known = folders.has(folder)
    is_added = not is_known and folders.add(folder)
    needs_restart = _needs_daemon_restart(home, name)
    if as_json:
        print_json(
            {
                "worker": name,
                "template": template,
                "folder": str(folder / name),
                "files": files,
                "found": is_known or is_added,
                "setting_changed": str(home.settings) if is_added else None,
                "restart_daemon": needs_restart,
            }
        )
        return
    click.echo(f"{folder / name}")
    for file in files:
        click.echo(f"  {file}")
    if is_added:
        print_message(f"Added {folder} to {SETTING} in {home.settings}.")
    print_message("Next:")
    to_register = not (is_known or is_added)
    steps = _next_steps(
        home, folder / name, template, to_register=to_register, restart=needs_restart
    )
    for number, step in enumerate(steps, 1):
        print_message(f"{number}. {step}")


def _check_target(folders: WorkerFolders, folder: Path, name: str) -> None:
    target = folder / name
    if target.exists() or target.is_symlink():
        raise click.UsageError(
            f"{target} already exists and is not overwritten."
            " Choose another name, or another folder with --into."
        )
    if (folder / WORKER_MANIFEST).is_file():
        raise click.UsageError(
            f"{folder} is a worker, and workers cannot be nested."
            " Choose another folder with --into."
        )
    location = folders.location_of(name)
    if location is not None:
        raise click.UsageError(
            f"There is already a worker {name} in {location}. Choose another name."
        )


def _next_steps(
    home: Home, folder: Path, template: str, *, to_register: bool, restart: bool
) -> Iterator[str]:
    """Yield what to do next with the worker in `folder`, one sentence each."""
    name = folder.name
    if to_register:
        value = json.dumps(str(folder.parent), ensure_ascii=False)
        yield f"add {value} to `{SETTING}` in {home.settings}"
    if restart:
        yield "`mosaic daemon stop`: the next daemon finds the folder; runs keep running"
    yield f"`mosaic workers {name}` shows its algorithms and parameters"
    yield f"`mosaic train {name} {FIRST_RUNS[template]}` installs its packages and trains"
    yield "`mosaic evaluate last` evaluates the trained policy"
    yield f"{folder / 'README.md'} explains what to change"


def _needs_daemon_restart(home: Home, name: str) -> bool:
    """Return whether a daemon is running that has read the settings before the change."""
    # gRPC is slow to import, and help does not need it.
    if importlib.import_module("mosaic.client.daemon_process").probe(home) is None:
        return False
    try:
        with connect(home) as client:
            client.worker(name)
    except UserError as error:
        return is_unknown_worker(error)  # other errors do not concern the new worker
    return False


def _sdk_requirement() -> str:
    """Return the arguments of pip: the checkout's SDK, or the installed distribution."""
    project = sdk_sources().path.parents[1]
    return (
        f"-e {shlex.quote(str(project))}"
        if (project / "pyproject.toml").is_file()
        else "mosaic-worker"
    )
