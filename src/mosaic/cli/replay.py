"""`mosaic replay`: shows a recorded episode, verifies it or writes it to a file."""

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import click
import msgspec

from mosaic.cli.bundles import retry_with_bundle
from mosaic.cli.commands import ExitCode, command
from mosaic.cli.connection import connect
from mosaic.cli.episode_view import episode_document, print_episode
from mosaic.cli.formatting import pluralize, short_id
from mosaic.cli.options import home_option, json_option, run_argument
from mosaic.cli.render import print_json, print_message, result_console
from mosaic.cli.replay_export import ExportOptions, ReplayProgress, export_episode, print_export
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient
    from mosaic.replay.verification import Verification

_FILE = click.Path(path_type=Path)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_MAX_EPISODE = 1 << 53
_KEYWORDS: dict[str, Literal["last", "best"]] = {"last": "last", "best": "best"}


@dataclass(frozen=True)
class EpisodeReference:
    """An episode of a run: its number, `last` or `best`."""

    value: int | Literal["last", "best"]

    def resolve(self, client: "TrainerClient", run_id: str) -> int:
        """Return the episode's number. Raises `UserError` if the run has no such episode."""
        if isinstance(self.value, int):
            return self.value
        episodes = list(client.episodes(run_id))
        # An unfinished episode is used only if there is no other.
        candidates = [episode for episode in episodes if episode.is_over] or episodes
        if not candidates:
            raise UserError(
                f"Run {run_id} has no episodes.",
                remedy=f"`mosaic runs show {short_id(run_id)}` shows what it did.",
            )
        if self.value == "last":
            return max(episode.episode for episode in candidates)
        return max(candidates, key=_rank).episode


def episode_argument(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """EPISODE; the command receives an `EpisodeReference`."""
    return click.argument("episode", callback=_parse_episode, shell_complete=_complete_episode)(
        command
    )


def _parse_episode(ctx: click.Context, param: click.Parameter, value: str) -> EpisodeReference:
    if value in _KEYWORDS:
        return EpisodeReference(_KEYWORDS[value])
    if value.isascii() and value.isdigit() and int(value) <= _MAX_EPISODE:
        return EpisodeReference(int(value))
    raise click.BadParameter(
        f"'{value}' is not an episode; expected a number, `last` or `best`.", ctx, param
    )


def _complete_episode(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [word for word in _KEYWORDS if word.startswith(incomplete)]


def _rank(episode: EpisodeRollup) -> tuple[float, int]:
    """Rank by return; the first of equal ones wins."""
    value = episode.total_return
    return (-math.inf if math.isnan(value) else value, -episode.episode)


@command(examples=["mosaic replay last best --verify", "mosaic replay last 0 --mp4 episode.mp4"])
@run_argument
@episode_argument
@click.option("--verify", is_flag=True, help="Re-simulate and compare every reward and end flag.")
@click.option("--mp4", type=_FILE, metavar="FILE", help="Write an MP4 video.")
@click.option("--gif", type=_FILE, metavar="FILE", help="Write an animated GIF.")
@click.option(
    "--jsonl", type=_FILE, metavar="FILE", help="Write its telemetry lines; works for any episode."
)
@click.option(
    "--from",
    "first_step",
    type=click.IntRange(0),
    metavar="I",
    help="First step to write. Default: 0.",
)
@click.option(
    "--to",
    "last_step",
    type=click.IntRange(0),
    metavar="J",
    help="Last step to write. Default: the last.",
)
@click.option(
    "--overlay/--no-overlay",
    default=None,
    help="Print step, action, reward and return below frames. Default: no.",
)
@click.option(
    "--fps",
    type=click.FloatRange(0, 1000, min_open=True),
    metavar="N",
    help="Frames per second. Default: that of the environment.",
)
@click.option(
    "--speed",
    type=click.FloatRange(0, 100, min_open=True),
    metavar="X",
    help="Playback speed; 2 is twice as fast. Default: 1.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--install/--no-install",
    default=None,
    help="Install a missing bundle of the run. Default: ask on a terminal.",
)
@json_option
@home_option
def replay(
    home: Home,
    run: str,
    episode: EpisodeReference,
    verify: bool,
    install: bool | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Show EPISODE of RUN; re-simulate it with --verify, --mp4 or --gif.

    EPISODE is a number, `last`, or `best` for the highest return. Steps are counted from 0.
    """
    export = ExportOptions(**options)
    export.check()
    with connect(home, start=verify or export.has_target) as client:
        run_id = client.resolve(run)
        ordinal = episode.resolve(client, run_id)
        if not verify and not export.has_target:
            return _show(client, run_id, ordinal, as_json)
        document: dict[str, Any] = {"run_id": run_id, "episode": ordinal}
        failed = False
        if verify:
            outcome = verify_episode(client, run_id, ordinal, install)
            failed = not outcome["identical"]
            document |= outcome
            if not as_json:
                print_verification(document)
        if export.has_target:
            written = retry_with_bundle(
                client, run_id, install, lambda: export_episode(client, run_id, ordinal, export)
            )
            document |= written
            if not as_json:
                print_export(written)
    if as_json:
        print_json(document)
    return ExitCode.FAILED if failed else 0


def _show(client: "TrainerClient", run_id: str, ordinal: int, as_json: bool) -> int:
    document = episode_document(client, run_id, ordinal)
    if as_json:
        print_json(document)
    else:
        print_episode(document)
    return 0


def verify_episode(
    client: "TrainerClient", run_id: str, episode: int, install: bool | None
) -> dict[str, Any]:
    """Return the result as a document; an episode that cannot be replayed is not identical."""
    verify = importlib.import_module("mosaic.replay.verification").verify

    def attempt() -> "Verification":
        with ReplayProgress("comparing", "steps") as progress:
            outcome: Verification = verify(client, run_id, episode, on_progress=progress.show)
            return outcome

    client.episode(run_id, episode)  # an unknown episode is an error, not a result
    try:
        outcome = retry_with_bundle(client, run_id, install, attempt)
    except DaemonUnreachableError:
        raise
    except UserError as error:
        return {
            "identical": False,
            "steps": 0,
            "first_difference": None,
            "difference": "",
            "warnings": [],
            "error": error.message,
            "remedy": error.remedy,
            "code": error.code,
        }
    return msgspec.structs.asdict(outcome)


def print_verification(document: dict[str, Any]) -> None:
    """Print the result on stdout and warnings on stderr."""
    for warning in document["warnings"]:
        print_message(f"Warning: {warning}", style="yellow")
    console = result_console()
    steps = pluralize(document["steps"], "step")
    if document["identical"]:
        console.print(f"Identical: {steps}, every reward and end flag.", style="green")
    elif document.get("error"):
        console.print(f"Not verified: {document['error']}", style="red", soft_wrap=True)
        print_message(document["remedy"])
    else:
        console.print(f"Different at {document['difference']}", style="red", soft_wrap=True)
        run, episode = short_id(document["run_id"]), document["episode"]
        command = f"mosaic telemetry {run} steps --episode {episode}"
        print_message(f"The recorded telemetry is unchanged; `{command}` shows it.")
