"""`mosaic train`: look whether a run can start, start it, and stay with it."""

from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli import exit_codes, formats
from mosaic.cli.attendance import attend
from mosaic.cli.checkpoints.reference import find_checkpoint
from mosaic.cli.completions import (
    complete_algorithms,
    complete_runs,
    complete_settings,
    complete_workers,
)
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json, say
from mosaic.cli.own_modules import path_option
from mosaic.cli.own_scripts import described, script_option
from mosaic.cli.parameter_hint import CommandWithParameters
from mosaic.cli.preset_option import preset_option
from mosaic.cli.readiness_report import print_dry_run, print_preflight
from mosaic.cli.resuming import resumed_document, tell_how_to_resume
from mosaic.cli.run_result import tell_result
from mosaic.cli.start_gate import may_start, refused
from mosaic.cli.train_config import TrainOptions, build_config, checked_tags
from mosaic.cli.workers.unknown_worker import found_after_a_restart
from mosaic.client.presets import load_preset
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


@click.command(cls=CommandWithParameters)
@click.argument("worker", shell_complete=complete_workers)
@click.option("--algo", shell_complete=complete_algorithms, help="One of the worker's algorithms.")
@script_option
@click.option("--env", "env_id", metavar="ID", help="The environment, such as CartPole-v1.")
@click.option("--env-arg", "env_args", multiple=True, metavar="NAME=VALUE", help="For its making.")
@click.option("--seed", type=click.IntRange(0), help="Of all that is random. Default: 1.")
@click.option("--total-timesteps", type=click.IntRange(1), metavar="N", help="Ends the run.")
@click.option("--max-episodes", type=click.IntRange(1), metavar="N", help="Ends it, too.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=complete_settings,
    help="A parameter of the algorithm; `mosaic workers WORKER` lists them.",
)
@click.option(
    "--arg", "worker_args", multiple=True, metavar="NAME=VALUE", help="Passed on unchecked."
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A run configuration in JSON to begin with; options win over it.",
)
@preset_option
@click.option("--name", help="For people; the run's id is made.")
@click.option("--tag", "tags", multiple=True, help="May be given more than once.")
@click.option("--priority", type=click.IntRange(-1000, 1000), help="Higher starts first.")
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stops the run.",
)
@click.option("--cpus", type=click.IntRange(1), help="How many it is granted. Default: 1.")
@click.option("--gpus", type=click.IntRange(0), help="How many it is granted. Default: 0.")
@click.option("--memory-mb", type=click.IntRange(1), help="How much it is granted.")
@click.option("--extra", "extras", multiple=True, help="Of the bundle, such as atari.")
@path_option
@click.option("--launcher", type=click.Choice(["local", "ray"]), help="Where to run it.")
@click.option("--warm-start", metavar="CKPT", help="Begin from this checkpoint.")
@click.option(
    "--resume",
    metavar="RUN|CKPT",
    shell_complete=complete_runs,
    help="Go on where that run left off, as it was set up; options win over that.",
)
@click.option(
    "--telemetry",
    type=click.Choice(["auto", "all", "sampled", "columns", "off"]),
    help="How much is told of each step. Default: auto, what suits the worker.",
)
@click.option("--frames", is_flag=True, help="Pictures for live views.")
@click.option(
    "--wandb",
    type=click.Choice(["online", "offline"]),
    is_flag=False,
    flag_value="online",
    help="Track with Weights & Biases.",
)
@click.option("--wandb-project", metavar="NAME", help="Where it is tracked. Default: mosaic.")
@click.option("--wandb-entity", metavar="NAME", help="Whose project that is.")
@click.option("--video", is_flag=True, help="Videos of some episodes.")
@click.option("--video-every", type=click.IntRange(1), metavar="N", help="Of every Nth episode.")
@click.option("--checkpoint-every", type=click.IntRange(0), metavar="N", help="Steps between two.")
@click.option("--dry-run", is_flag=True, help="Let the worker say what it would do, and stop.")
@click.option("--preflight", is_flag=True, help="Show whether it could start, and stop.")
@click.option("--force", is_flag=True, help="Start even when something speaks against it.")
@click.option("--detach", "-d", is_flag=True, help="Start it and leave it alone.")
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
    **options: Any,
) -> int:
    """Start a run of WORKER and watch it until it is over.

    Ctrl-C leaves the run alone; a second one stops it.
    """
    tags = checked_tags(tags)
    if preset and resume:
        raise click.UsageError("--preset begins a run anew, and --resume goes on with one.")
    begin_with = load_preset(home, preset) if preset else None
    with connected(home, start=True) as client:
        if resume:
            begin_with = resumed_document(client, resume, worker)
        asked = TrainOptions(**options)
        if asked.warm_start:
            checkpoint = find_checkpoint(client, asked.warm_start).checkpoint_id
            asked = msgspec.structs.replace(asked, warm_start=checkpoint)
        script = asked.script or (begin_with or {}).get("script")
        with found_after_a_restart(home, worker):
            descriptor = described(client, worker, script)
        config = build_config(asked, descriptor, begin_with)
        if dry_run:
            report = client.dry_run(config)
            print_dry_run(report, as_json)
            return 0 if report.ok else exit_codes.FAILED
        readiness = client.preflight(config)
        if preflight:
            print_preflight(readiness, as_json)
            return exit_codes.FAILED if readiness.is_blocked else 0
        if not may_start(readiness, force):
            if as_json:
                print_json(refused(readiness))
            return exit_codes.FAILED
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
    say(f"Run {run.run_id}: {formats.title(run)}")
    interrupted = False
    if detach:
        say(f"It runs in the background: `mosaic runs watch {formats.short_id(run.run_id)}`.")
    else:
        interrupted = attend(client, run.run_id).interrupted
    details = client.run(run.run_id)
    code = tell_result(details, home, interrupted=interrupted, as_json=as_json)
    tell_how_to_resume(client, details)
    return code
