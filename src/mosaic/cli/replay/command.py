"""`mosaic replay`: a recorded episode again, as proof that it comes out the same or as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mosaic.cli import exit_codes
from mosaic.cli.bundle_offer import with_its_bundle
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option, run_argument
from mosaic.cli.output import print_json
from mosaic.cli.replay.episode_reference import EpisodeReference, episode_argument
from mosaic.cli.replay.episode_view import episode_document, print_episode
from mosaic.cli.replay.export import ExportOptions, export_episode, print_export
from mosaic.cli.replay.verification import print_verification, verify_episode
from mosaic.contract.layout import Home

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_FILE = click.Path(path_type=Path)


@click.command()
@run_argument
@episode_argument
@click.option("--verify", is_flag=True, help="Play it again and compare every reward and end flag.")
@click.option("--mp4", type=_FILE, metavar="FILE", help="Write it as a video.")
@click.option("--gif", type=_FILE, metavar="FILE", help="Write it as an animated picture.")
@click.option("--jsonl", type=_FILE, metavar="FILE", help="Write its lines; works for any episode.")
@click.option("--from", "first_step", type=click.IntRange(0), metavar="I", help="The first step.")
@click.option("--to", "last_step", type=click.IntRange(0), metavar="J", help="The last step.")
@click.option(
    "--overlay/--no-overlay",
    default=None,
    help="Step, action, reward and return below the pictures.",
)
@click.option(
    "--fps",
    type=click.FloatRange(0, 1000, min_open=True),
    metavar="N",
    help="Pictures a second. Default: as the environment is shown.",
)
@click.option(
    "--speed",
    type=click.FloatRange(0, 100, min_open=True),
    metavar="X",
    help="2 is twice as fast. Default: 1.",
)
@click.option("--force", is_flag=True, help="Replace the file when it is there already.")
@click.option(
    "--install/--no-install",
    default=None,
    help="Install the bundle that it needs when that is gone. Default: asks, on a terminal.",
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
    """What EPISODE of RUN was; played again with --verify, --mp4 or --gif.

    EPISODE is its number, `last`, or `best` for the highest return. Steps are counted from 0.
    """
    export = ExportOptions(**options)
    export.check()
    with connected(home, start=verify or export.is_wanted) as client:
        run_id = client.resolve(run)
        ordinal = episode.resolve(client, run_id)
        if not verify and not export.is_wanted:
            return _show(client, run_id, ordinal, as_json)
        document: dict[str, Any] = {"run_id": run_id, "episode": ordinal}
        failed = False
        if verify:
            outcome = verify_episode(client, run_id, ordinal, install)
            failed = not outcome["identical"]
            document |= outcome
            if not as_json:
                print_verification(document)
        if export.is_wanted:
            written = with_its_bundle(
                client, run_id, install, lambda: export_episode(client, run_id, ordinal, export)
            )
            document |= written
            if not as_json:
                print_export(written)
    if as_json:
        print_json(document)
    return exit_codes.FAILED if failed else 0


def _show(client: "TrainerClient", run_id: str, ordinal: int, as_json: bool) -> int:
    document = episode_document(client, run_id, ordinal)
    if as_json:
        print_json(document)
    else:
        print_episode(document)
    return 0
