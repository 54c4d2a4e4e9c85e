"""`mosaic train`: checks whether a run can start, starts it and watches it."""

from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.checkpoint_reference import find_checkpoint
from mosaic.cli.commands import ExitCode, ParameterCommand, command
from mosaic.cli.completion import (
    complete_algorithms,
    complete_runs,
    complete_settings,
    complete_workers,
)
from mosaic.cli.connection import connect, describe_worker
from mosaic.cli.formatting import run_title, short_id
from mosaic.cli.options import (
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
    preset_option,
    script_option,
)
from mosaic.cli.preflight import (
    confirm_preflight,
    print_dry_run,
    print_preflight,
    rejected_document,
)
from mosaic.cli.render import print_json, print_message
from mosaic.cli.train_config import TrainOptions, build_config, check_tags, resumed_document
from mosaic.cli.watch import print_result, print_resume_hint, watch_run
from mosaic.cli.worker_folders import suggest_daemon_restart
from mosaic.client.presets import load_preset
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


@command(
    cls=ParameterCommand,
    examples=[
        "mosaic train cleanrl_worker --algo ppo --env CartPole-v1 --set learning_rate=0.001",
        "mosaic train cleanrl_worker --resume last",
    ],
)
@click.argument("worker", shell_complete=complete_workers)
@click.option(
    "--algo",
    metavar="ID",
    shell_complete=complete_algorithms,
    help="Algorithm. Default: the worker's only one.",
)
@script_option
@click.option("--env", "env_id", metavar="ID", help="Environment, such as CartPole-v1.")
@env_args_option
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Random seed. Default: 1.")
@click.option("--total-timesteps", type=click.IntRange(1), metavar="N", help="Stop after N steps.")
@click.option("--max-episodes", type=click.IntRange(1), metavar="N", help="Stop after N episodes.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=complete_settings,
    help="Parameter of the algorithm; `mosaic workers WORKER` lists them.",
)
@click.option(
    "--arg",
    "worker_args",
    multiple=True,
    metavar="NAME=VALUE",
    help="Extra argument, passed to the worker unchecked; repeatable.",
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Run configuration in JSON to start from; options override it.",
)
@preset_option
@name_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag of the run; repeatable.")
@click.option(
    "--priority",
    type=click.IntRange(-1000, 1000),
    metavar="N",
    help="Runs with a higher priority start first. Default: 0.",
)
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop after this time. Default: no limit.",
)
@click.option("--cpus", type=click.IntRange(1), metavar="N", help="CPUs to reserve. Default: 1.")
@click.option("--gpus", type=click.IntRange(0), metavar="N", help="GPUs to reserve. Default: 0.")
@click.option("--memory-mb", type=click.IntRange(1), metavar="MB", help="Memory to reserve.")
@extras_option
@path_option
@click.option("--launcher", type=click.Choice(["local", "ray"]), help="Where to run it.")
@click.option("--warm-start", metavar="CKPT", help="Initialise from this checkpoint.")
@click.option(
    "--resume",
    metavar="RUN|CKPT",
    shell_complete=complete_runs,
    help="Continue that run from its checkpoint; options override its configuration.",
)
@imported_code_option
@click.option(
    "--telemetry",
    type=click.Choice(["auto", "all", "sampled", "columns", "off"]),
    help="Step detail to record. Default: auto, chosen by the worker.",
)
@frames_option
@click.option(
    "--wandb",
    type=click.Choice(["online", "offline"]),
    is_flag=False,
    flag_value="online",
    help="Track with Weights & Biases. Default mode: online.",
)
@click.option("--wandb-project", metavar="NAME", help="W&B project. Default: mosaic.")
@click.option("--wandb-entity", metavar="NAME", help="W&B entity that owns the project.")
@click.option("--video", is_flag=True, help="Record videos of some episodes.")
@click.option(
    "--video-every", type=click.IntRange(1), metavar="N", help="Record every Nth episode."
)
@click.option(
    "--checkpoint-every", type=click.IntRange(0), metavar="N", help="Steps between checkpoints."
)
@click.option("--dry-run", is_flag=True, help="Print what the worker would do, and exit.")
@click.option("--preflight", is_flag=True, help="Print whether the run can start, and exit.")
@force_option
@detach_option
@json_option
@home_option
def train(
    home: Home,
    worker: str,
    preset: str | None,
    tags: tuple[str, ...],
    dry_run: bool,
    preflight: bool,
    force: bool,
    detach: bool,
    as_json: bool,
    resume: str | None,
    use_imported_code: bool,
    **options: Any,
) -> int:
    """Start a training run of WORKER and watch it until it finishes.

    Ctrl-C stops watching and leaves the run alone; a second Ctrl-C stops the run.
    """
    tags = check_tags(tags)
    if preset and resume:
        raise click.UsageError("Give either --preset, for a new run, or --resume, not both.")
    base = load_preset(home, preset) if preset else None
    with connect(home, start=True) as client:
        if resume:
            base = resumed_document(client, resume, worker, use_imported_code=use_imported_code)
        train_options = TrainOptions(**options)
        if train_options.warm_start:
            checkpoint = find_checkpoint(client, train_options.warm_start).checkpoint_id
            train_options = msgspec.structs.replace(train_options, warm_start=checkpoint)
        script = train_options.script or (base or {}).get("script")
        with suggest_daemon_restart(home, worker):
            descriptor = describe_worker(client, worker, script)
        config = build_config(train_options, descriptor, base)
        if dry_run:
            dry_run_report = client.dry_run(config)
            print_dry_run(dry_run_report, as_json)
            return 0 if dry_run_report.ok else ExitCode.FAILED
        report = client.preflight(config)
        if preflight:
            print_preflight(report, as_json)
            return ExitCode.FAILED if report.is_blocked else 0
        if not confirm_preflight(report, force):
            if as_json:
                print_json(rejected_document(report))
            return ExitCode.FAILED
        return _run(client, home, config, tags, detach, as_json)


def _run(
    client: "TrainerClient",
    home: Home,
    config: TrainRunConfig,
    tags: tuple[str, ...],
    detach: bool,
    as_json: bool,
) -> int:
    run = client.submit(config)
    if tags:
        run = client.tag(run.run_id, *tags)
    print_message(f"Run {run.run_id}: {run_title(run)}")
    interrupted = False
    if detach:
        print_message(f"Running in the background: `mosaic runs watch {short_id(run.run_id)}`.")
    else:
        interrupted = watch_run(client, run.run_id).interrupted
    details = client.run(run.run_id)
    code = print_result(details, home, interrupted=interrupted, as_json=as_json)
    print_resume_hint(client, details)
    return code
