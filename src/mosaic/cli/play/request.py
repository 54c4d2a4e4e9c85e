"""From the options of `mosaic play` to the session that they ask for."""

import dataclasses
import importlib
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.checkpoints.reference import find_checkpoint
from mosaic.cli.own_modules import own_folders
from mosaic.cli.settings_text import (
    as_json_value,
    as_parameter,
    split_settings,
    typed_settings,
)
from mosaic.client.sessions.actor_descriptors import HUMAN, RECORDED, SCRIPTED
from mosaic.client.sessions.session_requests import LEASE_S, SessionRequest
from mosaic.contract.errors import UserError
from mosaic.contract.problems import DocumentError
from mosaic.envs.configuration import env_kwargs
from mosaic.envs.entries import EnvironmentEntry

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_AGENT_EPISODES = 10
_AGENT_SEED = 1
_AS_FAST_AS_IT_CAN = 0.0
_MOST_SEEDS = 2**31


class PlayOptions(msgspec.Struct, kw_only=True, frozen=True):
    """What was given on the command line; None and empty mean: not given."""

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
    def is_person(self) -> bool:
        return self.actor == HUMAN

    @property
    def is_attended(self) -> bool:
        """Whether it is played in the terminal, not only run."""
        return self.is_person or self.watch


def build_request(options: PlayOptions, entry: EnvironmentEntry) -> SessionRequest:
    """The session. Wrong use is told as such, with what is wrong with each value."""
    return SessionRequest(
        env_id=entry.env_id,
        actor=_actor(options.actor),
        env_kwargs=_env_kwargs(options, entry),
        seed=_seed(options),
        episodes=_episodes(options),
        total_timesteps=options.max_steps,
        params=_params(options),
        frames=options.frames,
        lease_s=LEASE_S if options.is_attended else None,
        run_name=options.name,
        python_path=own_folders(
            options.path, entry.env_id, options.actor.removeprefix(f"{SCRIPTED}:")
        ),
    )


def with_whole_actor(client: "TrainerClient", request: SessionRequest) -> SessionRequest:
    """With the id of the checkpoint that a part of it, or a run, may stand for."""
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


def with_settings(
    client: "TrainerClient", request: SessionRequest, settings: Sequence[str]
) -> SessionRequest:
    """With what `--set` says, typed by the parameters of whoever acts."""
    given = split_settings(settings, "--set")
    if not given:
        return request
    actors = importlib.import_module("mosaic.client.sessions.actor_service").ActorService(client)
    actor = actors.find(request.actor, request.env_id)
    algorithm = client.describe(actor.worker).algorithm(actor.algo)
    typed = typed_settings(given, algorithm.parameters if algorithm else ())
    return dataclasses.replace(request, params={**request.params, **typed})


def _actor(given: str) -> str:
    """With the whole path of a file that it names: a run has a working directory of its own."""
    kind, _, what = given.partition(":")
    path, colon, name = what.rpartition(":") if kind == SCRIPTED else (what, "", "")
    if kind not in (SCRIPTED, RECORDED) or not Path(path).is_file():
        return given
    return f"{kind}:{Path(path).resolve()}{colon}{name}"


def _env_kwargs(options: PlayOptions, entry: EnvironmentEntry) -> dict[str, Any]:
    fields = {field.name: field for field in entry.fields}
    given = split_settings(options.env_args, "--env-arg")
    values = {
        name: as_parameter(text, fields[name]) if name in fields else as_json_value(text)
        for name, text in given.items()
    }
    try:
        return env_kwargs(entry, values)
    except DocumentError as error:
        raise click.UsageError(f"{error.message} {error.remedy}") from error


def _seed(options: PlayOptions) -> int:
    """A person gets another game each time, an agent the same: its results are compared."""
    if options.seed is not None:
        return options.seed
    return secrets.randbelow(_MOST_SEEDS) if options.is_person else _AGENT_SEED


def _episodes(options: PlayOptions) -> int | None:
    """A person plays until they quit; so does who watches an agent."""
    if options.episodes is not None or options.is_attended or options.max_steps is not None:
        return options.episodes
    return _AGENT_EPISODES


def _params(options: PlayOptions) -> dict[str, Any]:
    if options.is_person:
        # So that the end of an episode can be looked at.
        return {"auto_reset": False}
    if options.speed is not None:
        return {"speed": options.speed}
    return {} if options.watch else {"speed": _AS_FAST_AS_IT_CAN}
