"""The results of played episodes: a table with a summary, the run's state, the exit code."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from mosaic.cli.formatting import format_number, pluralize, short_id
from mosaic.cli.render import print_json, print_message, print_table
from mosaic.cli.run_details import run_document
from mosaic.cli.watch import WatchResult, exit_code_of, print_result
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.events import EpisodeEnd
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_MAX_STEPS_READ = 200_000
"""Actors are read from the steps, unless there are more steps than this."""
_MAX_ROWS = 100
_COMPLETE_ENDS = ("terminated", "truncated")


class EpisodeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One episode as `mosaic play` reports it."""

    episode: int
    episode_id: str
    steps: int
    total_return: float = msgspec.field(name="return")
    end: str
    """`terminated`, `truncated`, `cut short` (by a reset) or `unfinished`."""
    actors: dict[str, int] = {}
    """Steps by actor; empty if unknown."""
    success: bool | None = None
    """None if the worker does not report it."""


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """Mean, standard deviation, minimum and maximum."""

    mean: float
    std: float
    min: float
    max: float


class ResultSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of the episodes that terminated or were truncated."""

    episodes: int
    returns: Distribution | None
    lengths: Distribution | None
    success_rate: float | None = None
    """Of the episodes that report success."""


class PlayResults(msgspec.Struct, frozen=True, kw_only=True):
    """All episodes of a run with at least one step, and their summary."""

    episodes: tuple[EpisodeResult, ...]
    summary: ResultSummary


def read_results(client: "TrainerClient", run_id: str) -> PlayResults:
    """Read the results of a run that are stored so far."""
    newest: dict[int, EpisodeRollup] = {}
    with client.episodes(run_id) as episodes:
        for episode in episodes:
            newest[episode.episode] = episode
    ordered = [newest[ordinal] for ordinal in sorted(newest)]
    actors = _actors(client, run_id, ordered)
    successes = _successes(client, run_id)
    results = tuple(
        _result(episode, actors.get(episode.episode_id, {}), successes.get(episode.episode_id))
        for episode in ordered
    )
    finished = [result for result in results if result.end in _COMPLETE_ENDS]
    return PlayResults(
        episodes=tuple(result for result in results if result.steps),
        summary=ResultSummary(
            episodes=len(finished),
            returns=_distribution(result.total_return for result in finished),
            lengths=_distribution(float(result.steps) for result in finished),
            success_rate=_success_rate(finished),
        ),
    )


def print_results(results: PlayResults, default_actor: str | None) -> None:
    """Print a table of the episodes and their summary.

    `default_actor` is used for episodes without actors; None prints no actors at all.
    """
    listed = results.episodes[-_MAX_ROWS:]
    if not listed:
        click.echo("No steps were taken.")
        return
    if len(listed) < len(results.episodes):
        click.echo(f"The last {len(listed)} of {len(results.episodes)} episodes:")
    print_table(
        ("episode", "steps", "return", "end", "by"),
        [
            (
                str(result.episode),
                str(result.steps),
                format_number(result.total_return),
                result.end,
                "" if default_actor is None else actors_text(result.actors) or default_actor,
            )
            for result in listed
        ],
        right=("episode", "steps", "return"),
        cut=("by",),
    )
    summary = results.summary
    if summary.returns is None or summary.lengths is None:
        click.echo("No episode was completed.")
        return
    click.echo(f"{pluralize(summary.episodes, 'episode')} completed")
    click.echo(f"  return: {_distribution_text(summary.returns)}")
    click.echo(f"  steps:  {_distribution_text(summary.lengths)}")
    if summary.success_rate is not None:
        click.echo(f"  success: {summary.success_rate:.0%}")


def actors_text(actors: dict[str, int]) -> str:
    """`random`, or `random 12, human 3` for several actors with their steps."""
    if len(actors) == 1:
        return next(iter(actors))
    return ", ".join(f"{actor} {steps}" for actor, steps in actors.items())


def _result(episode: EpisodeRollup, actors: dict[str, int], success: bool | None) -> EpisodeResult:
    counted = episode.steps > 0
    return EpisodeResult(
        episode=episode.episode,
        episode_id=episode.episode_id,
        steps=episode.steps if counted else episode.reported_steps or 0,
        total_return=episode.total_return if counted else episode.reported_return or 0.0,
        end=_end(episode),
        actors=actors,
        success=success,
    )


def _end(episode: EpisodeRollup) -> str:
    if episode.terminated or episode.truncated:
        return "truncated" if episode.truncated else "terminated"
    return "cut short" if episode.is_over else "unfinished"


def _actors(
    client: "TrainerClient", run_id: str, episodes: Sequence[EpisodeRollup]
) -> dict[str, dict[str, int]]:
    if sum(episode.steps for episode in episodes) > _MAX_STEPS_READ:
        return {}
    counters: dict[str, Counter[str]] = {}
    with client.steps(run_id) as steps:
        for _, step in steps:
            if step.actor is not None:
                counters.setdefault(step.episode_id, Counter())[step.actor] += 1
    return {episode_id: dict(counts) for episode_id, counts in counters.items()}


def _successes(client: "TrainerClient", run_id: str) -> dict[str, bool]:
    """Return by episode whether it succeeded, if its worker reports that."""
    successes = {}
    with client.events(run_id, kind="episode") as events:
        for event in events:
            episode = event.decoded()
            if isinstance(episode, EpisodeEnd) and episode.success is not None:
                successes[episode.episode_id] = episode.success
    return successes


def _success_rate(results: Sequence[EpisodeResult]) -> float | None:
    known = [result.success for result in results if result.success is not None]
    return sum(known) / len(known) if known else None


def _distribution(numbers: Iterable[float]) -> Distribution | None:
    values = [number for number in numbers if math.isfinite(number)]
    if not values:
        return None
    return Distribution(
        mean=statistics.fmean(values),
        std=statistics.pstdev(values),
        min=min(values),
        max=max(values),
    )


def _distribution_text(distribution: Distribution) -> str:
    numbers = msgspec.structs.asdict(distribution)
    return ", ".join(f"{name} {format_number(number)}" for name, number in numbers.items())


def print_outcome(
    client: "TrainerClient",
    home: Home,
    result: WatchResult,
    actor: str | None,
    *,
    was_quit: bool = False,
    as_json: bool,
) -> int:
    """Print the results and return the exit code, which is 0 for a person who quits.

    `actor` is the actor of episodes whose steps name none; None prints no actors.
    """
    details = client.run(result.run.run_id)
    results = read_results(client, result.run.run_id)
    if as_json:
        print_json(run_document(details, home) | msgspec.to_builtins(results))
    else:
        if results.episodes or details.run.state not in (RunState.FAILED, RunState.LOST):
            print_results(results, actor)
        print_result(details, home, with_return=results.summary.returns is None)
        if results.episodes:
            reference = f"{short_id(details.run.run_id)} {results.episodes[-1].episode}"
            print_message(f"Replay it: `mosaic replay {reference} --mp4 FILE`, or --verify.")
    if was_quit and details.run.state is RunState.CANCELLED and not result.interrupted:
        return 0
    return exit_code_of(WatchResult(details.run, result.interrupted))
