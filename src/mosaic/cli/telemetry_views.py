"""The commands of `mosaic telemetry RUN`."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

import click
import msgspec

from mosaic.cli import formats
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_fields, print_json, print_table, say
from mosaic.cli.telemetry import RUN_KEY
from mosaic.client.run_reference import find_run
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.contract.layout import Home
from mosaic.telemetry.curve_reader import SeriesInfo
from mosaic.telemetry.reader import TelemetryReader

Command = TypeVar("Command", bound=Callable[..., Any])
_DEFAULT_COUNT = 20
_LONGEST_CELL = 40


def _range_options(command: Command) -> Command:
    command = click.option(
        "--count",
        type=click.IntRange(1),
        default=_DEFAULT_COUNT,
        show_default=True,
        help="How many.",
    )(command)
    return click.option(
        "--from", "first", type=click.IntRange(0), default=0, help="Where to begin."
    )(command)


@contextmanager
def _opened(home: Home) -> Iterator[tuple[str, TelemetryReader]]:
    """The run that the group was given, and a reader of its store."""
    reference = click.get_current_context().meta[RUN_KEY]
    folders = home.runs.iterdir() if home.runs.is_dir() else ()
    run_id = find_run(reference, ((folder.name, _name_of(home, folder.name)) for folder in folders))
    with TelemetryReader(home.run(run_id)) as reader:
        yield run_id, reader


def _name_of(home: Home, run_id: str) -> str:
    """The name in the run's configuration, for whoever names a run so."""
    try:
        config = msgspec.json.decode(home.run(run_id).config.read_bytes())
        return str(config.get("run_name") or "")
    except (OSError, msgspec.DecodeError, AttributeError, UserError):
        return ""


@click.command()
@json_option
@home_option
def stats(home: Home, as_json: bool) -> None:
    """How much is stored of the run, and what could not be taken."""
    with _opened(home) as (run_id, reader):
        counts = reader.stats()
    if as_json:
        print_json({"run_id": run_id, **msgspec.to_builtins(counts)})
        return
    fields = []
    for name, value in msgspec.structs.asdict(counts).items():
        words = name.replace("_", " ")
        if isinstance(value, dict):
            fields.append((words, ", ".join(f"{key} {number:,}" for key, number in value.items())))
        else:
            fields.append((words, f"{value:,}"))
    print_fields(fields)


@click.command()
@click.option("--episode", type=click.IntRange(0), help="Of this episode, by its number.")
@_range_options
@json_option
@home_option
def steps(home: Home, episode: int | None, first: int, count: int, as_json: bool) -> None:
    """Steps of an episode from step --from on; without --episode, in order of arrival."""
    with _opened(home) as (run_id, reader):
        if episode is None:
            found = list(islice(_in_order(reader, first), count))
        else:
            if reader.episode(episode) is None:
                raise _no_episode(run_id, episode)
            found = reader.steps(episode, first, first + count - 1)
    if as_json:
        print_json({"run_id": run_id, "episode": episode, "steps": found})
        return
    if not found:
        say("There are no such steps.")
        return
    print_table(
        ("EPISODE", "STEP", "ACTION", "REWARD", "END", "OBS"),
        map(_step_row, found),
        right=("STEP", "REWARD"),
        cut=("ACTION", "OBS"),
    )


def _in_order(reader: TelemetryReader, first: int) -> Iterator[StepRecord]:
    seq = first - 1
    while batch := reader.steps_after(seq):
        for _, step in batch:
            yield step
        seq = batch[-1].seq


def _no_episode(run_id: str, episode: int) -> UserError:
    return UserError(
        f"Run {run_id} has no episode {episode}.",
        remedy=f"`mosaic telemetry {formats.short_id(run_id)} episodes` shows those there are.",
    )


def _step_row(step: StepRecord) -> tuple[str, ...]:
    end = "terminated" if step.terminated else "truncated" if step.truncated else ""
    return (
        step.episode_id,
        str(step.step),
        _shortened(step.action),
        formats.real(step.reward),
        end,
        _shortened(step.obs),
    )


def _shortened(value: Any) -> str:
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


@click.command()
@_range_options
@json_option
@home_option
def episodes(home: Home, first: int, count: int, as_json: bool) -> None:
    """Episodes in numbers, from number --from on."""
    with _opened(home) as (run_id, reader):
        found = reader.episodes(first, count)
    if as_json:
        # Every field, also those that have their default: whoever reads this looks for them.
        documents = [msgspec.structs.asdict(episode) for episode in found]
        print_json({"run_id": run_id, "episodes": documents})
        return
    if not found:
        say("There are no such episodes.")
        return
    print_table(
        ("EPISODE", "ID", "STEPS", "RETURN", "END", "AGENT"),
        (
            (
                str(episode.episode),
                episode.episode_id,
                f"{episode.steps:,}",
                formats.real(episode.total_return),
                "terminated"
                if episode.terminated
                else "truncated"
                if episode.truncated
                else "over"
                if episode.is_over
                else "",
                episode.agent_id or "",
            )
            for episode in found
        ),
        right=("EPISODE", "STEPS", "RETURN"),
    )


@click.command()
@click.argument("name", required=False)
@click.option("--agent", default=None, help="Of this agent.")
@click.option("--from", "first", type=float, default=None, help="The first step.")
@click.option("--to", "last", type=float, default=None, help="The last step.")
@click.option(
    "--count",
    type=click.IntRange(2),
    default=_DEFAULT_COUNT,
    show_default=True,
    help="At most so many points; spikes stay.",
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
    """The curves there are; of the curve NAME, its points."""
    with _opened(home) as (run_id, reader):
        series = reader.series()
        curve = None
        if name is not None:
            told_by = _who_tells(run_id, name, agent, series)
            curve = reader.curve(name, agent_id=told_by, max_points=count, first=first, last=last)
    if curve is None:
        found = [{"name": i.name, "agent_id": i.agent_id, "points": i.points} for i in series]
        if as_json:
            print_json({"run_id": run_id, "series": found})
        else:
            rows = [(i.name, i.agent_id or "", f"{i.points:,}") for i in series]
            print_table(("METRIC", "AGENT", "POINTS"), rows, right=("POINTS",))
    elif as_json:
        print_json({"run_id": run_id, "name": name, **msgspec.to_builtins(curve)})
    else:
        points = [(f"{x:g}", formats.real(y)) for x, y in zip(curve.x, curve.y, strict=True)]
        print_table(("STEP", "VALUE"), points, right=("STEP", "VALUE"))


def _who_tells(
    run_id: str, name: str, agent: str | None, series: Sequence[SeriesInfo]
) -> str | None:
    """The agent whose curve is meant: the one that was named, or the only one there is."""
    agents = [info.agent_id for info in series if info.name == name]
    listed = f"`mosaic telemetry {formats.short_id(run_id)} metrics` lists them."
    if not agents:
        raise UserError(f"Run {run_id} has no metric '{name}'.", remedy=listed)
    if agent is not None and agent not in agents:
        raise UserError(f"In run {run_id} no {agent} tells '{name}'.", remedy=listed)
    if agent is None and len(agents) > 1:
        named = " and ".join(each or "the run itself" for each in agents)
        first = next(each for each in agents if each)
        raise UserError(f"'{name}' is told by {named}.", remedy=f"Choose one: --agent {first}.")
    return agents[0] if agent is None else agent


@click.command()
@_range_options
@json_option
@home_option
def rejects(home: Home, first: int, count: int, as_json: bool) -> None:
    """Lines that are no events, in order, with their place in the spool."""
    with _opened(home) as (run_id, reader):
        found = list(islice(reader.rejects(), first, first + count))
    if as_json:
        documents = [msgspec.structs.asdict(reject) for reject in found]
        print_json({"run_id": run_id, "rejects": documents})
        return
    if not found:
        say("Every line was an event.")
        return
    rows = [
        (f"{reject.offset:,}", f"{reject.bytes:,}", reject.kind, _shortened(reject.text))
        for reject in found
    ]
    print_table(("OFFSET", "BYTES", "KIND", "LINE"), rows, right=("OFFSET", "BYTES"), cut=("LINE",))
