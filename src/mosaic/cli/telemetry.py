"""The commands of `mosaic telemetry RUN`. They read the store and need no daemon."""

import importlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from mosaic.cli.command_groups import RUN_KEY
from mosaic.cli.commands import command
from mosaic.cli.formatting import format_number, short_id
from mosaic.cli.options import home_option, json_option
from mosaic.cli.render import print_fields, print_json, print_message, print_table
from mosaic.client.run_reference import find_run
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.contract.layout import Home

if TYPE_CHECKING:
    from mosaic.telemetry.curve_reader import SeriesInfo
    from mosaic.telemetry.reader import TelemetryReader

Command = TypeVar("Command", bound=Callable[..., Any])
_DEFAULT_COUNT = 20
_MAX_CELL_CHARACTERS = 40


def _range_options(function: Command) -> Command:
    function = click.option(
        "--count",
        type=click.IntRange(1),
        default=_DEFAULT_COUNT,
        metavar="N",
        help=f"Maximum number of rows. Default: {_DEFAULT_COUNT}.",
    )(function)
    return click.option(
        "--from",
        "first",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="First index to print. Default: 0.",
    )(function)


@contextmanager
def _open_store(home: Home) -> "Iterator[tuple[str, TelemetryReader]]":
    """Open the store of the group's RUN; yields the run's id and a reader."""
    reference = click.get_current_context().meta[RUN_KEY]
    folders = home.runs.iterdir() if home.runs.is_dir() else ()
    run_id = find_run(
        reference, ((folder.name, _run_name(home, folder.name)) for folder in folders)
    )
    # Compression libraries are imported here, because help does not need them.
    reader_type: type[TelemetryReader] = importlib.import_module(
        "mosaic.telemetry.reader"
    ).TelemetryReader
    with reader_type(home.run(run_id)) as reader, reader.explain_errors():
        yield run_id, reader


def _run_name(home: Home, run_id: str) -> str:
    """Return the name in the run's configuration, which may be used as RUN."""
    try:
        config = msgspec.json.decode(home.run(run_id).config.read_bytes())
        return str(config.get("run_name") or "")
    except (OSError, msgspec.DecodeError, AttributeError, UserError):
        return ""


@command(examples=["mosaic telemetry last stats"])
@json_option
@home_option
def stats(home: Home, as_json: bool) -> None:
    """Show how much is stored of the run, and how many lines failed to parse."""
    with _open_store(home) as (run_id, reader):
        counts = reader.stats()
    if as_json:
        print_json({"run_id": run_id, **msgspec.to_builtins(counts)})
        return
    fields = []
    for name, value in msgspec.structs.asdict(counts).items():
        label = name.replace("_", " ")
        if isinstance(value, dict):
            fields.append((label, ", ".join(f"{key} {number:,}" for key, number in value.items())))
        else:
            fields.append((label, f"{value:,}"))
    print_fields(fields)


@command(examples=["mosaic telemetry last steps --episode 0"])
@click.option(
    "--episode",
    type=click.IntRange(0),
    metavar="N",
    help="Number of an episode. Default: all steps.",
)
@_range_options
@json_option
@home_option
def steps(home: Home, episode: int | None, first: int, count: int, as_json: bool) -> None:
    """List the steps of an episode; without --episode, in order of arrival."""
    with _open_store(home) as (run_id, reader):
        if episode is None:
            records = list(islice(_steps_in_order(reader, first), count))
        else:
            if reader.episode(episode) is None:
                raise _unknown_episode(run_id, episode)
            records = reader.steps(episode, first, first + count - 1)
    if as_json:
        print_json({"run_id": run_id, "episode": episode, "steps": records})
        return
    if not records:
        print_message("No steps in this range.")
        return
    print_table(
        ("EPISODE", "STEP", "ACTION", "REWARD", "END", "OBS"),
        map(_step_row, records),
        right=("STEP", "REWARD"),
        cut=("ACTION", "OBS"),
    )


def _steps_in_order(reader: "TelemetryReader", first: int) -> Iterator[StepRecord]:
    seq = first - 1
    while batch := reader.steps_after(seq):
        for _, step in batch:
            yield step
        seq = batch[-1].seq


def _unknown_episode(run_id: str, episode: int) -> UserError:
    return UserError(
        f"Run {run_id} has no episode {episode}.",
        remedy=f"`mosaic telemetry {short_id(run_id)} episodes` lists them.",
    )


def _step_row(step: StepRecord) -> tuple[str, ...]:
    end = "terminated" if step.terminated else "truncated" if step.truncated else ""
    return (
        step.episode_id,
        str(step.step),
        _to_short_text(step.action),
        format_number(step.reward),
        end,
        _to_short_text(step.obs),
    )


def _to_short_text(value: Any) -> str:
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_CELL_CHARACTERS else f"{text[: _MAX_CELL_CHARACTERS - 1]}…"


@command(examples=["mosaic telemetry last episodes --count 5"])
@_range_options
@json_option
@home_option
def episodes(home: Home, first: int, count: int, as_json: bool) -> None:
    """List episodes with their length, return and end."""
    with _open_store(home) as (run_id, reader):
        records = reader.episodes(first, count)
    if as_json:
        # Every field, also those with their default value, so that readers can rely on them.
        documents = [msgspec.structs.asdict(episode) for episode in records]
        print_json({"run_id": run_id, "episodes": documents})
        return
    if not records:
        print_message("No episodes in this range.")
        return
    print_table(
        ("EPISODE", "ID", "STEPS", "RETURN", "END", "AGENT"),
        (
            (
                str(episode.episode),
                episode.episode_id,
                f"{episode.steps:,}",
                format_number(episode.total_return),
                "terminated"
                if episode.terminated
                else "truncated"
                if episode.truncated
                else "ended"
                if episode.is_over
                else "",
                episode.agent_id or "",
            )
            for episode in records
        ),
        right=("EPISODE", "STEPS", "RETURN"),
    )


@command(
    examples=[
        "mosaic telemetry last metrics",
        "mosaic telemetry last metrics charts/episodic_return",
    ]
)
@click.argument("name", required=False)
@click.option("--agent", default=None, metavar="ID", help="Agent that reported the metric.")
@click.option("--from", "first", type=float, default=None, metavar="N", help="First step.")
@click.option("--to", "last", type=float, default=None, metavar="N", help="Last step.")
@click.option(
    "--count",
    type=click.IntRange(2),
    default=_DEFAULT_COUNT,
    metavar="N",
    help=f"Maximum number of points; spikes are kept. Default: {_DEFAULT_COUNT}.",
)
@json_option
@home_option
def metrics(
    home: Home,
    name: str | None,
    agent: str | None,
    first: float | None,
    last: float | None,
    count: int,
    as_json: bool,
) -> None:
    """List the metrics, or the points of the metric NAME."""
    with _open_store(home) as (run_id, reader):
        series = reader.series()
        curve = None
        if name is not None:
            agent_id = _find_agent(run_id, name, agent, series)
            curve = reader.curve(name, agent_id=agent_id, max_points=count, first=first, last=last)
    if curve is None:
        listed = [
            {"name": info.name, "agent_id": info.agent_id, "points": info.points} for info in series
        ]
        if as_json:
            print_json({"run_id": run_id, "series": listed})
        else:
            rows = [(info.name, info.agent_id or "", f"{info.points:,}") for info in series]
            print_table(("METRIC", "AGENT", "POINTS"), rows, right=("POINTS",))
    elif as_json:
        print_json({"run_id": run_id, "name": name, **msgspec.to_builtins(curve)})
    else:
        points = [(f"{x:g}", format_number(y)) for x, y in zip(curve.x, curve.y, strict=True)]
        print_table(("STEP", "VALUE"), points, right=("STEP", "VALUE"))


def _find_agent(
    run_id: str, name: str, agent: str | None, series: "Sequence[SeriesInfo]"
) -> str | None:
    """Return the agent whose curve to print: the given one, or the only one."""
    agents = [info.agent_id for info in series if info.name == name]
    listed = f"`mosaic telemetry {short_id(run_id)} metrics` lists them."
    if not agents:
        raise UserError(f"Run {run_id} has no metric '{name}'.", remedy=listed)
    if agent is not None and agent not in agents:
        raise UserError(f"In run {run_id}, no agent {agent} reports '{name}'.", remedy=listed)
    if agent is None and len(agents) > 1:
        named = " and ".join(agent_id or "the run itself" for agent_id in agents)
        first = next(agent_id for agent_id in agents if agent_id)
        raise UserError(f"'{name}' is reported by {named}.", remedy=f"Choose one: --agent {first}.")
    return agents[0] if agent is None else agent


@command(examples=["mosaic telemetry last rejects"])
@_range_options
@json_option
@home_option
def rejects(home: Home, first: int, count: int, as_json: bool) -> None:
    """List lines that failed to parse, with their offset in the spool."""
    with _open_store(home) as (run_id, reader):
        records = islice(reader.rejects(), first, first + count)
        if as_json:
            documents = [msgspec.structs.asdict(reject) for reject in records]
            print_json({"run_id": run_id, "rejects": documents})
            return
        rows = [  # of each record, which may have megabytes, only the beginning is kept
            (
                f"{reject.offset:,}",
                f"{reject.bytes:,}",
                reject.kind,
                _to_short_text(reject.text and reject.text[:_MAX_CELL_CHARACTERS]),
            )
            for reject in records
        ]
    if not rows:
        print_message("Every line was parsed.")
        return
    print_table(("OFFSET", "BYTES", "KIND", "LINE"), rows, right=("OFFSET", "BYTES"), cut=("LINE",))
