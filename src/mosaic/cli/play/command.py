"""`mosaic play`: a person in the terminal, or any actor without a view, and what came of it."""

import importlib
from typing import TYPE_CHECKING, Any

import click

from mosaic.cli import formats
from mosaic.cli.attendance import Attendance, attend
from mosaic.cli.completions import complete_environments
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import say
from mosaic.cli.own_modules import path_option
from mosaic.cli.play.outcome import tell_outcome
from mosaic.cli.play.request import (
    PlayOptions,
    build_request,
    with_settings,
    with_whole_actor,
)
from mosaic.cli.play.terminal_keys import PlayTerminal
from mosaic.cli.run_result import tell_result
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.problems import closest
from mosaic.envs.catalog import environment, environments
from mosaic.envs.configuration import MAX_SEED
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.scenes.factory import has_scene

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

NOT_IN_A_TERMINAL = "C201"
"""The environment is seen in pictures only, which a terminal does not show."""


@click.command()
@click.argument("env_id", metavar="ENV", shell_complete=complete_environments)
@click.option(
    "--actor",
    default="human",
    metavar="ACTOR",
    help="human, random, scripted:NAME, or the id of a checkpoint. Default: human.",
)
@click.option("--seed", type=click.IntRange(0, MAX_SEED), metavar="N", help="Of the start.")
@click.option("--episodes", type=click.IntRange(1), metavar="N", help="How many. Agents: 10.")
@click.option("--env-arg", "env_args", multiple=True, metavar="NAME=VALUE", help="For its making.")
@path_option
@click.option("--max-steps", type=click.IntRange(1), metavar="N", help="Ends it, too.")
@click.option(
    "--speed",
    type=click.FloatRange(0, 1000),
    metavar="X",
    help="Times normal speed; 0: as fast as it can, as agents do unless they are watched.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of whoever acts; `mosaic workers WORKER` lists them.",
)
@click.option("--watch", is_flag=True, help="See an agent play, and take over when you like.")
@click.option("--frames", is_flag=True, help="Pictures for other views of the same run.")
@click.option("--name", help="For people; the run's id is made.")
@click.option("--detach", "-d", is_flag=True, help="Start an agent and leave it alone.")
@json_option
@home_option
def play(home: Home, env_id: str, detach: bool, as_json: bool, **given: Any) -> int:
    """Play ENV with the keys in this terminal, or let an ACTOR play it.

    Text and grid environments are played here: `mosaic envs` shows which. An actor plays any
    environment, and ends with a table of its episodes.
    """
    options = PlayOptions(**given)
    entry = environment(env_id)
    request = build_request(options, entry)
    if not options.is_attended:
        with connected(home, start=True) as client:
            request = with_whole_actor(client, request)
            request = with_settings(client, request, options.settings)
            return _run_headless(client, home, request, detach=detach, as_json=as_json)
    if detach:
        raise click.UsageError("--detach is for agents that nobody watches: name an --actor.")
    _check_view(entry)
    terminal = PlayTerminal.find(stdout_is_taken=as_json)
    with connected(home, start=True) as client:
        request = with_whole_actor(client, request)
        request = with_settings(client, request, options.settings)
        # gRPC comes with it, which help must not wait for.
        play_session = importlib.import_module("mosaic.cli.play.session").play_session
        ending: Attendance = play_session(client, home, terminal, entry, request)
        return tell_outcome(client, home, ending, request.actor, was_quit=True, as_json=as_json)


def _run_headless(
    client: "TrainerClient", home: Home, request: SessionRequest, *, detach: bool, as_json: bool
) -> int:
    actor_service = importlib.import_module("mosaic.client.sessions.actor_service")
    run = client.submit(actor_service.ActorService(client).to_run_config(request))
    say(f"Run {run.run_id}: {request.actor} plays {request.env_id}")
    if detach:
        say(f"It runs in the background: `mosaic runs watch {formats.short_id(run.run_id)}`.")
        return tell_result(client.run(run.run_id), home, as_json=as_json)
    ending = attend(client, run.run_id)
    return tell_outcome(client, home, ending, request.actor, as_json=as_json)


def _check_view(entry: EnvironmentEntry) -> None:
    if has_scene(entry.env_id):
        return
    meant = closest(entry.env_id, [each.env_id for each in environments()])
    if entry.is_generated and meant is not None:
        raise click.UsageError(
            f"{entry.env_id} is not in the catalog. Did you mean '{meant}'?"
            " `mosaic envs` lists what there is."
        )
    unknown = " is not in the catalog and" if entry.is_generated else ""
    raise UserError(
        f"{entry.env_id}{unknown} is not drawn in a terminal: it may only have pictures.",
        remedy=f"Let an actor play it: `mosaic play {entry.env_id} --actor random`, or --actor"
        " scripted; then `mosaic replay last 0 --mp4 FILE` shows it.",
        code=NOT_IN_A_TERMINAL,
    )
