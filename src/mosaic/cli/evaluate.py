"""`mosaic evaluate`: a saved policy in its environment, and how well it does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mosaic.cli import exit_codes, formats
from mosaic.cli.attendance import attend
from mosaic.cli.checkpoints.reference import checkpoint_argument, find_checkpoint
from mosaic.cli.completions import complete_environments
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json, say
from mosaic.cli.own_modules import own_folders, path_option
from mosaic.cli.play.outcome import tell_outcome
from mosaic.cli.run_result import tell_result
from mosaic.cli.settings_text import as_json_value, split_settings, typed_settings
from mosaic.cli.start_gate import may_start, refused
from mosaic.client.script_models import ScriptModelError, is_of_script
from mosaic.contract.layout import Home
from mosaic.contract.run_config import BundleConfig, RunConfigError, TrainRunConfig, load_run_config
from mosaic.contract.storage import CheckpointRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_MOST_SEEDS = 10_000


class Seeds(click.ParamType[tuple[int, ...]]):
    """`1,2,5-9`."""

    name = "seeds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        seeds: list[int] = []
        for part in str(value).split(","):
            first, dash, last = part.strip().partition("-")
            ends = (first, last if dash else first)
            if not all(end.isdecimal() for end in ends) or int(ends[0]) > int(ends[1]):
                self.fail(f"'{value}' names no seeds: write them as 1,2,5-9.", param, ctx)
            if int(ends[1]) - int(ends[0]) + len(seeds) >= _MOST_SEEDS:
                self.fail(f"'{value}' names more than {_MOST_SEEDS:,} seeds.", param, ctx)
            seeds += range(int(ends[0]), int(ends[1]) + 1)
        return tuple(seeds)


@click.command()
@checkpoint_argument
@click.option("--episodes", type=click.IntRange(1), metavar="N", help="How many. Default: 10.")
@click.option("--seeds", type=Seeds(), metavar="LIST", help="Of the episodes, such as 1,2,5-9.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="The first one. Default: 1.")
@click.option(
    "--env",
    "env_id",
    metavar="ID",
    shell_complete=complete_environments,
    help="Another environment than it was trained in.",
)
@click.option("--env-arg", "env_args", multiple=True, metavar="NAME=VALUE", help="For its making.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the algorithm; `mosaic workers WORKER` lists them.",
)
@click.option("--extra", "extras", multiple=True, help="Of the bundle, such as atari.")
@path_option
@click.option("--name", help="For people; the run's id is made.")
@click.option("--frames", is_flag=True, help="Pictures for live views.")
@click.option("--force", is_flag=True, help="Start even when something speaks against it.")
@click.option("--detach", "-d", is_flag=True, help="Start it and leave it alone.")
@json_option
@home_option
def evaluate(
    home: Home, checkpoint: str, force: bool, detach: bool, as_json: bool, **given: Any
) -> int:
    """Let the policy of CKPT play some episodes, and tell return, length and success.

    CKPT is a checkpoint's id, or a run, whose newest one is meant. The environment is made as it
    was for training, unless --env or --env-arg says otherwise.
    """
    with connected(home, start=True) as client:
        found = find_checkpoint(client, checkpoint)
        if is_of_script(found):
            raise ScriptModelError
        config = _config(client, found, **given)
        readiness = client.preflight(config)
        if not may_start(readiness, force):
            if as_json:
                print_json(refused(readiness))
            return exit_codes.FAILED
        run = client.submit(config)
        say(f"Run {run.run_id}: {found.checkpoint_id} in {config.env_id}")
        if detach:
            say(f"It runs in the background: `mosaic runs watch {formats.short_id(run.run_id)}`.")
            return tell_result(client.run(run.run_id), home, as_json=as_json)
        ending = attend(client, run.run_id)
        return tell_outcome(client, home, ending, None, as_json=as_json)


def _config(
    client: "TrainerClient",
    checkpoint: CheckpointRecord,
    *,
    episodes: int | None,
    seeds: tuple[int, ...] | None,
    seed: int | None,
    env_id: str | None,
    env_args: Sequence[str],
    settings: Sequence[str],
    extras: Sequence[str],
    path: Sequence[str],
    name: str | None,
    frames: bool,
) -> TrainRunConfig:
    """The run to submit, in what the policy was trained in unless other things are asked for."""
    trained = _trained(client, checkpoint)
    where = env_id or checkpoint.env_id
    if not where:
        raise click.UsageError("Say in which environment with --env; the checkpoint does not.")
    making = split_settings(env_args, "--env-arg")
    env_kwargs = dict(trained.env_kwargs) if trained and where == checkpoint.env_id else {}
    env_kwargs |= {each: as_json_value(text) for each, text in making.items()}
    algorithm = client.describe(checkpoint.worker).algorithm(checkpoint.algo)
    given = split_settings(settings, "--set")
    folders = (*(trained.python_path if trained else ()), *own_folders(path, where))
    document: dict[str, Any] = {
        "run_name": name,
        "worker": checkpoint.worker,
        "mode": "evaluate",
        "algo": checkpoint.algo or None,
        "env_id": where,
        "env_kwargs": env_kwargs,
        "seed": 1 if seed is None else seed,
        "params": typed_settings(given, algorithm.parameters if algorithm else ()),
        "actor": checkpoint.checkpoint_id,
        "episodes": episodes,
        "seeds": seeds,
        "parent_run": checkpoint.run_id or None,
        "telemetry": {"frames": frames},
        "bundle": _bundle(trained, extras),
        "python_path": list(dict.fromkeys(folders)),
    }
    try:
        return load_run_config(document)
    except RunConfigError as error:
        raise click.UsageError(f"{error.message} {error.remedy}") from error


def _bundle(trained: TrainRunConfig | None, extras: Sequence[str]) -> dict[str, Any] | None:
    """That of the training, with further extras; a script's own says nothing about its worker."""
    had = trained.bundle if trained and not trained.script else None
    if had is None and not extras:
        return None
    had = had or BundleConfig()
    return {"name": had.name, "extras": sorted({*had.extras, *extras})}


def _trained(client: "TrainerClient", checkpoint: CheckpointRecord) -> TrainRunConfig | None:
    """The configuration of the run that saved it; None when it was imported."""
    if not checkpoint.run_id:
        return None
    return load_run_config(client.run(checkpoint.run_id).config_json)
