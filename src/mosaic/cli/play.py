"""`mosaic play`: a person plays in the terminal, or an actor plays without a view."""

import dataclasses
import importlib
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.assignments import (
    parse_assignments,
    parse_json_or_text,
    parse_parameters,
    parse_value,
)
from mosaic.cli.checkpoint_reference import find_checkpoint
from mosaic.cli.commands import command
from mosaic.cli.completion import complete_environments
from mosaic.cli.connection import connect
from mosaic.cli.formatting import short_id
from mosaic.cli.options import (
    detach_option,
    env_args_option,
    frames_option,
    home_option,
    json_option,
    name_option,
    path_option,
    resolve_folders,
)
from mosaic.cli.play_results import print_outcome
from mosaic.cli.render import print_message
from mosaic.cli.terminal.terminal import PlayTerminal
from mosaic.cli.watch import WatchResult, print_result, watch_run
from mosaic.client.sessions.session_requests import (
    HUMAN,
    LEASE_S,
    RECORDED,
    SCRIPTED,
    SessionRequest,
)
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.problems import DocumentError, closest
from mosaic.envs.catalog import environment, environments
from mosaic.envs.configuration import MAX_SEED, env_kwargs
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.scenes.factory import has_scene

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

NO_TEXT_VIEW = "C201"
"""The environment only renders images, which a terminal cannot display."""
_AGENT_EPISODES = 10
_AGENT_SEED = 1
_UNLIMITED_SPEED = 0.0
_MAX_SEED = 2**31


@command(
    examples=[
        "mosaic play FrozenLake-v1",
        "mosaic play CartPole-v1 --actor random --episodes 5",
    ]
)
@click.argument("env_id", metavar="ENV", shell_complete=complete_environments)
@click.option(
    "--actor",
    default="human",
    metavar="ACTOR",
    help="Actor: human, random, scripted:NAME or a checkpoint's id. Default: human.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, MAX_SEED),
    metavar="N",
    help="Random seed. Default: random for human, else 1.",
)
@click.option(
    "--episodes",
    type=click.IntRange(1),
    metavar="N",
    help="Stop after N episodes. Default for agents: 10.",
)
@env_args_option
@path_option
@click.option("--max-steps", type=click.IntRange(1), metavar="N", help="Stop after N steps.")
@click.option(
    "--speed",
    type=click.FloatRange(0, 1000),
    metavar="X",
    help="Speed factor; 0 is unlimited, the default of agents without --watch.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the actor; `mosaic workers WORKER` lists them.",
)
@click.option("--watch", is_flag=True, help="Watch an agent play, and take over with a key.")
@frames_option
@name_option
@detach_option
@json_option
@home_option
def play(home: Home, env_id: str, detach: bool, as_json: bool, **arguments: Any) -> int:
    """Play ENV with the keyboard in this terminal, or let an ACTOR play it.

    Only text and grid environments can be played in a terminal; `mosaic envs` lists them. An actor
    can play any environment, and prints a table of its episodes.
    """
    options = PlayOptions(**arguments)
    entry = environment(env_id)
    request = build_request(options, entry)
    if not options.is_interactive:
        with connect(home, start=True) as client:
            request = resolve_actor(client, request)
            request = apply_settings(client, request, options.settings)
            return _run_headless(client, home, request, detach=detach, as_json=as_json)
    if detach:
        raise click.UsageError("--detach needs an --actor, and cannot be combined with --watch.")
    _check_view(entry)
    terminal = PlayTerminal.find(is_stdout_used=as_json)
    with connect(home, start=True) as client:
        request = resolve_actor(client, request)
        request = apply_settings(client, request, options.settings)
        # Imports gRPC, which help does not need.
        play_session = importlib.import_module("mosaic.cli.terminal.session").play_session
        result: WatchResult = play_session(client, home, terminal, entry, request)
        return print_outcome(client, home, result, request.actor, was_quit=True, as_json=as_json)


def _run_headless(
    client: "TrainerClient", home: Home, request: SessionRequest, *, detach: bool, as_json: bool
) -> int:
    actor_service = importlib.import_module("mosaic.client.sessions.actor_service")
    run = client.submit(actor_service.ActorService(client).run_config(request))
    print_message(f"Run {run.run_id}: {request.actor} plays {request.env_id}")
    if detach:
        print_message(f"Running in the background: `mosaic runs watch {short_id(run.run_id)}`.")
        return print_result(client.run(run.run_id), home, as_json=as_json)
    result = watch_run(client, run.run_id)
    return print_outcome(client, home, result, request.actor, as_json=as_json)


def _check_view(entry: EnvironmentEntry) -> None:
    if has_scene(entry.env_id):
        return
    similar = closest(entry.env_id, [other.env_id for other in environments()])
    if entry.is_generated and similar is not None:
        raise click.UsageError(
            f"{entry.env_id} is not in the catalog. Did you mean '{similar}'?"
            " `mosaic envs` lists all environments."
        )
    unknown = " is not in the catalog and" if entry.is_generated else ""
    raise UserError(
        f"{entry.env_id}{unknown} cannot be displayed in a terminal.",
        remedy=f"Let an actor play it: `mosaic play {entry.env_id} --actor random`, or --actor"
        " scripted; then `mosaic replay last 0 --mp4 FILE` writes a video.",
        code=NO_TEXT_VIEW,
    )


class PlayOptions(msgspec.Struct, kw_only=True, frozen=True):
    """The options of the command line; None and empty mean that an option was not given."""

    actor: str = HUMAN
    seed: int | None = None
    episodes: int | None = None
    env_args: tuple[str, ...] = ()
    max_steps: int | None = None
    speed: float | None = None
    frames: bool = False
    watch: bool = False
    settings: tuple[str, ...] = ()
    name: str | None = None
    path: tuple[str, ...] = ()

    @property
    def is_human(self) -> bool:
        return self.actor == HUMAN

    @property
    def is_interactive(self) -> bool:
        """Whether it is displayed in the terminal."""
        return self.is_human or self.watch


def build_request(options: PlayOptions, entry: EnvironmentEntry) -> SessionRequest:
    """Build the session's request. Raises `click.UsageError` for invalid values."""
    return SessionRequest(
        env_id=entry.env_id,
        actor=_absolute_actor(options.actor),
        env_kwargs=_env_kwargs(options, entry),
        seed=_seed(options),
        episodes=_episodes(options),
        total_timesteps=options.max_steps,
        params=_params(options),
        frames=options.frames,
        lease_s=LEASE_S if options.is_interactive else None,
        run_name=options.name,
        python_path=resolve_folders(
            options.path, entry.env_id, options.actor.removeprefix(f"{SCRIPTED}:")
        ),
    )


def resolve_actor(client: "TrainerClient", request: SessionRequest) -> SessionRequest:
    """Replace a part of a checkpoint's id, or a run, by the checkpoint's id."""
    actors = importlib.import_module("mosaic.client.sessions.actor_service").ActorService(client)
    try:
        actors.find(request.actor, request.env_id)
    except UserError as unknown:
        try:
            checkpoint = find_checkpoint(client, request.actor)
        except UserError:
            raise unknown from None
        return dataclasses.replace(request, actor=checkpoint.checkpoint_id)
    return request


def apply_settings(
    client: "TrainerClient", request: SessionRequest, settings: Sequence[str]
) -> SessionRequest:
    """Add the settings of `--set`, converted to the types of the actor's parameters."""
    assignments = parse_assignments(settings, "--set")
    if not assignments:
        return request
    actors = importlib.import_module("mosaic.client.sessions.actor_service").ActorService(client)
    actor = actors.find(request.actor, request.env_id)
    algorithm = client.describe(actor.worker).algorithm(actor.algo)
    params = parse_parameters(assignments, algorithm.parameters if algorithm else ())
    return dataclasses.replace(request, params={**request.params, **params})


def _absolute_actor(actor: str) -> str:
    """Make the path of a file absolute, because a run has a working directory of its own."""
    kind, _, value = actor.partition(":")
    path, colon, name = value.rpartition(":") if kind == SCRIPTED else (value, "", "")
    if kind not in (SCRIPTED, RECORDED) or not Path(path).is_file():
        return actor
    return f"{kind}:{Path(path).resolve()}{colon}{name}"


def _env_kwargs(options: PlayOptions, entry: EnvironmentEntry) -> dict[str, Any]:
    fields = {field.name: field for field in entry.fields}
    assignments = parse_assignments(options.env_args, "--env-arg")
    values = {
        name: parse_value(text, fields[name]) if name in fields else parse_json_or_text(text)
        for name, text in assignments.items()
    }
    try:
        return env_kwargs(entry, values)
    except DocumentError as error:
        raise click.UsageError(f"{error.message} {error.remedy}") from error


def _seed(options: PlayOptions) -> int:
    """Return a random seed for a person; a fixed one for an agent, so that results compare."""
    if options.seed is not None:
        return options.seed
    return secrets.randbelow(_MAX_SEED) if options.is_human else _AGENT_SEED


def _episodes(options: PlayOptions) -> int | None:
    """Return the limit of episodes; an interactive session has none."""
    if options.episodes is not None or options.is_interactive or options.max_steps is not None:
        return options.episodes
    return _AGENT_EPISODES


def _params(options: PlayOptions) -> dict[str, Any]:
    if options.is_human:
        # The last frame of an episode stays until the person resets.
        return {"auto_reset": False}
    if options.speed is not None:
        return {"speed": options.speed}
    return {} if options.watch else {"speed": _UNLIMITED_SPEED}
