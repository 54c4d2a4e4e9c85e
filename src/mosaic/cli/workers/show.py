"""`mosaic workers [WORKER]`: what can be trained with, and how."""

import json

import click
import msgspec

from mosaic.cli.completions import complete_workers
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import (
    print_fields,
    print_json,
    print_table,
    result_console,
    say,
    state_text,
)
from mosaic.cli.own_scripts import script_option
from mosaic.cli.workers.unknown_worker import found_after_a_restart
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor, decode_descriptor
from mosaic.contract.layout import Home
from mosaic.contract.parameters import Parameter
from mosaic.contract.readiness import WorkerInfo


@click.command("show")
@click.argument("worker", required=False, shell_complete=complete_workers)
@click.option("--algo", metavar="ID", help="The page of one algorithm, and its parameters.")
@script_option
@json_option
@home_option
def show(
    home: Home, worker: str | None, algo: str | None, script: str | None, as_json: bool
) -> None:
    """The workers there are and whether they are ready; of one WORKER, everything it can do.

    With --script, the parameters of that script instead of the worker's algorithms.
    """
    if (script or algo) and not worker:
        raise click.UsageError("Say which WORKER is meant.")
    with connected(home, start=True) as client:
        if worker:
            with found_after_a_restart(home, worker):
                found = [client.worker(worker, script)]
        else:
            found = client.workers()
    if as_json:
        documents = [_document(info) for info in found]
        print_json(documents[0] if worker else {"workers": documents})
    elif algo:
        _print_page(found[0], algo)
    elif worker:
        _print_one(found[0])
    else:
        _print_all(found)


def _document(info: WorkerInfo) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(info)
    del document["descriptor_json"]
    text = info.descriptor_json
    document["descriptor"] = None if text is None else msgspec.json.decode(text)
    return document


def _print_all(found: list[WorkerInfo]) -> None:
    if not found:
        say("No workers were found. `mosaic workers new NAME` writes one to begin with.")
        return
    rows = []
    for info in found:
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
        ("WORKER", "VERSION", "STATE", "BUNDLE", "ALGORITHMS", "CAN"),
        rows,
        cut=("ALGORITHMS", "CAN"),
    )
    for info in found:
        if info.problem:
            say(f"{info.worker_id}: {info.problem} {info.remedy}".rstrip(), style="yellow")


def _print_one(info: WorkerInfo) -> None:
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
            ("found in", f"{info.location} ({info.source})"),
            *(_descriptor_fields(descriptor) if descriptor else ()),
        ]
    )
    for algorithm in descriptor.algorithms if descriptor else ():
        _print_algorithm(algorithm)


def _print_page(info: WorkerInfo, algo: str) -> None:
    descriptor = _descriptor(info)
    known = {each.id: each for each in descriptor.algorithms} if descriptor else {}
    if algo not in known:
        raise click.UsageError(
            f"{info.worker_id} has no algorithm {algo!r}. It has {', '.join(known) or 'none'}."
        )
    algorithm = known[algo]
    if algorithm.page:
        from rich.markdown import Markdown  # noqa: PLC0415 - takes long

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
        ("can", ", ".join(_capabilities(descriptor))),
        ("extras", ", ".join(descriptor.needs.extras)),
        ("services", ", ".join(descriptor.needs.services)),
        ("credentials", ", ".join(descriptor.needs.credentials)),
        ("licence", ", ".join(descriptor.licence)),
    ]


def _print_algorithm(algorithm: Algorithm) -> None:
    result_console().print(f"\n{algorithm.id}  {algorithm.doc}".rstrip(), style="bold")
    width = max((len(each.name) for each in algorithm.parameters), default=0)
    for each in algorithm.parameters:
        what = f"{each.type}, {json.dumps(each.default, ensure_ascii=False)} by default"
        limits = f", {_limits(each)}" if _limits(each) else ""
        click.echo(f"  {each.name:<{width}}  {what}{limits}")
        if each.search:
            low, high = each.search
            scale = " by order of magnitude" if each.log else ""
            click.echo(f"  {'':<{width}}  a sweep tries {low:g}…{high:g}{scale}")
        if each.help:
            click.echo(f"  {'':<{width}}  {each.help}")


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
    able = msgspec.structs.asdict(descriptor.supports)
    return [name.replace("_", " ") for name, is_able in able.items() if is_able]


def _descriptor(info: WorkerInfo) -> WorkerDescriptor | None:
    text = info.descriptor_json
    return None if text is None else decode_descriptor(text, info.worker_id)
