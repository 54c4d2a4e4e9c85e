"""`mosaic evaluate`: runs a saved policy and reports return, length and success."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mosaic.cli.assignments import parse_assignments, parse_json_or_text, parse_parameters
from mosaic.cli.checkpoint_reference import checkpoint_argument, find_checkpoint
from mosaic.cli.commands import ExitCode, command
from mosaic.cli.completion import complete_environments
from mosaic.cli.connection import connect
from mosaic.cli.formatting import short_id
from mosaic.cli.options import (
    IMPORTED_CODE_REMEDY,
    detach_option,
    env_args_option,
    extras_option,
    force_option,
    frames_option,
    home_option,
    imported_code_option,
    json_option,
    name_option,
    path_option,
    resolve_folders,
)
from mosaic.cli.play_results import print_outcome
from mosaic.cli.preflight import confirm_preflight, rejected_document
from mosaic.cli.render import print_json, print_message
from mosaic.cli.watch import print_result, watch_run
from mosaic.client.sessions.session_requests import is_script_model, script_model_error
from mosaic.contract.imported_code import reusable_config
from mosaic.contract.layout import Home
from mosaic.contract.run_config import BundleConfig, RunConfigError, TrainRunConfig, load_run_config
from mosaic.contract.storage import CheckpointRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_MAX_SEEDS = 10_000


class SeedList(click.ParamType[tuple[int, ...]]):
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
                self.fail(
                    f"'{value}' is not a list of seeds; expected a list such as 1,2,5-9.",
                    param,
                    ctx,
                )
            if int(ends[1]) - int(ends[0]) + len(seeds) >= _MAX_SEEDS:
                self.fail(f"'{value}' has more than {_MAX_SEEDS:,} seeds.", param, ctx)
            seeds += range(int(ends[0]), int(ends[1]) + 1)
        return tuple(seeds)


@command(examples=["mosaic evaluate last", "mosaic evaluate last --seeds 1-20 --json"])
@checkpoint_argument
@click.option(
    "--episodes", type=click.IntRange(1), metavar="N", help="Number of episodes. Default: 10."
)
@click.option(
    "--seeds", type=SeedList(), metavar="LIST", help="Seeds of the episodes, such as 1,2,5-9."
)
@click.option(
    "--seed", type=click.IntRange(0), metavar="N", help="Seed of the first episode. Default: 1."
)
@click.option(
    "--env",
    "env_id",
    metavar="ID",
    shell_complete=complete_environments,
    help="Environment. Default: the one it was trained in.",
)
@env_args_option
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the algorithm; `mosaic workers WORKER` lists them.",
)
@extras_option
@path_option
@imported_code_option
@name_option
@frames_option
@force_option
@detach_option
@json_option
@home_option
def evaluate(
    home: Home, checkpoint: str, force: bool, detach: bool, as_json: bool, **options: Any
) -> int:
    """Evaluate the policy of CKPT for some episodes: return, length and success rate.

    CKPT is a checkpoint's id, or a run, which means its newest checkpoint. The environment is
    configured as for training, unless --env or --env-arg is given.
    """
    with connect(home, start=True) as client:
        record = find_checkpoint(client, checkpoint)
        if is_script_model(record):
            raise script_model_error()
        config = _config(client, record, **options)
        report = client.preflight(config)
        if not confirm_preflight(report, force):
            if as_json:
                print_json(rejected_document(report))
            return ExitCode.FAILED
        run = client.submit(config)
        print_message(f"Run {run.run_id}: {record.checkpoint_id} in {config.env_id}")
        if detach:
            print_message(f"Running in the background: `mosaic runs watch {short_id(run.run_id)}`.")
            return print_result(client.run(run.run_id), home, as_json=as_json)
        result = watch_run(client, run.run_id)
        return print_outcome(client, home, result, None, as_json=as_json)


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
    use_imported_code: bool,
    name: str | None,
    frames: bool,
) -> TrainRunConfig:
    """Build the run's configuration: that of the training unless options override it."""
    # With --path the user replaces the folders of the training.
    trained = _training_config(client, checkpoint, use_imported_code, ignore_code=bool(path))
    target_env = env_id or checkpoint.env_id
    if not target_env:
        raise click.UsageError(
            "Choose an environment with --env; the checkpoint does not name one."
        )
    env_settings = parse_assignments(env_args, "--env-arg")
    env_kwargs = dict(trained.env_kwargs) if trained and target_env == checkpoint.env_id else {}
    env_kwargs |= {setting: parse_json_or_text(text) for setting, text in env_settings.items()}
    algorithm = client.describe(checkpoint.worker).algorithm(checkpoint.algo)
    parameters = parse_assignments(settings, "--set")
    folders = (*(trained.python_path if trained else ()), *resolve_folders(path, target_env))
    document: dict[str, Any] = {
        "run_name": name,
        "worker": checkpoint.worker,
        "mode": "evaluate",
        "algo": checkpoint.algo or None,
        "env_id": target_env,
        "env_kwargs": env_kwargs,
        "seed": 1 if seed is None else seed,
        "params": parse_parameters(parameters, algorithm.parameters if algorithm else ()),
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
    """Return the training's bundle with further extras; a script's bundle is not its worker's."""
    base = trained.bundle if trained and not trained.script else None
    if base is None and not extras:
        return None
    base = base or BundleConfig()
    return {"name": base.name, "extras": sorted({*base.extras, *extras})}


def _training_config(
    client: "TrainerClient",
    checkpoint: CheckpointRecord,
    use_imported_code: bool,
    *,
    ignore_code: bool,
) -> TrainRunConfig | None:
    """Return the configuration of the run that saved it; None if it was imported without one."""
    if not checkpoint.run_id:
        return None
    details = client.run(checkpoint.run_id)
    if ignore_code and not use_imported_code:
        return load_run_config(details.config_json)
    remedy = f"{IMPORTED_CODE_REMEDY} Or pass your own folders with --path."
    return load_run_config(
        reusable_config(details, use_imported_code=use_imported_code, remedy=remedy)
    )
