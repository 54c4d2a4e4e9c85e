"""What came of playing: each episode with who acted in it, and all of them in a few numbers."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from mosaic.cli import formats
from mosaic.cli.output import print_table
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.events import EpisodeEnd

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_MOST_STEPS_READ = 200_000
"""Who acted stands on each step; of more steps than this it is not looked up."""
_MOST_ROWS = 100
_ENDS_OF_ITS_OWN = ("terminated", "truncated")


class EpisodeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One episode as `mosaic play` tells it."""

    episode: int
    episode_id: str
    steps: int
    total_return: float = msgspec.field(name="return")
    end: str
    """`terminated`, `truncated`, `cut short` (by a reset) or `unfinished`."""
    actors: dict[str, int] = {}
    """How many steps each took; empty when that is not known."""
    success: bool | None = None
    """None: nobody said."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Several numbers in four."""

    mean: float
    std: float
    min: float
    max: float


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Of the episodes that were played to their end."""

    episodes: int
    returns: Spread | None
    lengths: Spread | None
    success_rate: float | None = None
    """Of the episodes of which it is known."""


class PlayResults(msgspec.Struct, frozen=True, kw_only=True):
    """All episodes of a run in which somebody took a step, and what they come to."""

    episodes: tuple[EpisodeResult, ...]
    summary: Summary


def read_results(client: "TrainerClient", run_id: str) -> PlayResults:
    """The results of a run, as far as they are stored by now."""
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
    finished = [result for result in results if result.end in _ENDS_OF_ITS_OWN]
    return PlayResults(
        episodes=tuple(result for result in results if result.steps),
        summary=Summary(
            episodes=len(finished),
            returns=_spread(result.total_return for result in finished),
            lengths=_spread(float(result.steps) for result in finished),
            success_rate=_success_rate(finished),
        ),
    )


def print_results(results: PlayResults, acting: str | None) -> None:
    """A table of the episodes and some lines about all of them.

    `acting` stands where nobody is named; with None nobody is.
    """
    shown = results.episodes[-_MOST_ROWS:]
    if not shown:
        click.echo("Nobody took a step.")
        return
    if len(shown) < len(results.episodes):
        click.echo(f"The last {len(shown)} of {len(results.episodes)} episodes:")
    print_table(
        ("episode", "steps", "return", "end", "by"),
        [
            (
                str(result.episode),
                str(result.steps),
                formats.real(result.total_return),
                result.end,
                "" if acting is None else acted(result.actors) or acting,
            )
            for result in shown
        ],
        right=("episode", "steps", "return"),
        cut=("by",),
    )
    summary = results.summary
    if summary.returns is None or summary.lengths is None:
        click.echo("No episode was played to its end.")
        return
    click.echo(f"{formats.amount(summary.episodes, 'episode')} played to the end")
    click.echo(f"  return: {_told(summary.returns)}")
    click.echo(f"  steps:  {_told(summary.lengths)}")
    if summary.success_rate is not None:
        click.echo(f"  success: {summary.success_rate:.0%}")


def acted(actors: dict[str, int]) -> str:
    """`random`, or `random 12, human 3` when several took turns."""
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
    if sum(episode.steps for episode in episodes) > _MOST_STEPS_READ:
        return {}
    found: dict[str, Counter[str]] = {}
    with client.steps(run_id) as steps:
        for _, step in steps:
            if step.actor is not None:
                found.setdefault(step.episode_id, Counter())[step.actor] += 1
    return {episode_id: dict(counts) for episode_id, counts in found.items()}


def _successes(client: "TrainerClient", run_id: str) -> dict[str, bool]:
    """By episode, where its worker said so."""
    found = {}
    with client.events(run_id, kind="episode") as events:
        for event in events:
            episode = event.decode()
            if isinstance(episode, EpisodeEnd) and episode.success is not None:
                found[episode.episode_id] = episode.success
    return found


def _success_rate(results: Sequence[EpisodeResult]) -> float | None:
    known = [result.success for result in results if result.success is not None]
    return sum(known) / len(known) if known else None


def _spread(numbers: Iterable[float]) -> Spread | None:
    values = [number for number in numbers if math.isfinite(number)]
    if not values:
        return None
    return Spread(
        mean=statistics.fmean(values),
        std=statistics.pstdev(values),
        min=min(values),
        max=max(values),
    )


def _told(spread: Spread) -> str:
    numbers = msgspec.structs.asdict(spread)
    return ", ".join(f"{name} {formats.real(number)}" for name, number in numbers.items())
