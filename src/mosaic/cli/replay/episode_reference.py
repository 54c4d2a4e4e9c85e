"""EPISODE on a command line: its number, `last` or `best`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

import click

from mosaic.cli.formats import short_id
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_LARGEST = 1 << 53
_WORDS: dict[str, Literal["last", "best"]] = {"last": "last", "best": "best"}


@dataclass(frozen=True)
class EpisodeReference:
    """Which episode is meant."""

    what: int | Literal["last", "best"]

    def resolve(self, client: "TrainerClient", run_id: str) -> int:
        """Its number. Raises `UserError` when the run has no such episode."""
        if isinstance(self.what, int):
            return self.what
        found = list(client.episodes(run_id))
        # An episode that still goes on is meant only when there is no other.
        over = [episode for episode in found if episode.is_over] or found
        if not over:
            raise UserError(
                f"Run {run_id} has no episodes.",
                remedy=f"`mosaic runs show {short_id(run_id)}` says what it did.",
            )
        if self.what == "last":
            return max(episode.episode for episode in over)
        return max(over, key=_merit).episode


def episode_argument(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """EPISODE; the command gets an `EpisodeReference`."""
    return click.argument("episode", callback=_convert, shell_complete=_complete)(command)


def _convert(ctx: click.Context, param: click.Parameter, value: str) -> EpisodeReference:
    if value in _WORDS:
        return EpisodeReference(_WORDS[value])
    if value.isascii() and value.isdigit() and int(value) <= _LARGEST:
        return EpisodeReference(int(value))
    raise click.BadParameter(
        f"'{value}' is neither the number of an episode nor `last` nor `best`.", ctx, param
    )


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [word for word in _WORDS if word.startswith(incomplete)]


def _merit(episode: EpisodeRollup) -> tuple[float, int]:
    """By return; of equal ones the first."""
    value = episode.total_return
    return (-math.inf if math.isnan(value) else value, -episode.episode)
