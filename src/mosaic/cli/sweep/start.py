"""`mosaic sweep WORKER`: start a sweep, and watch its trials until it is over."""

from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli import exit_codes, formats
from mosaic.cli.attendance import Attendance, attend
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
from mosaic.cli.own_scripts import script_option
from mosaic.cli.preset_option import preset_option
from mosaic.cli.run_result import exit_code_of, tell_result
from mosaic.cli.runs.details import as_document
from mosaic.cli.start_gate import may_start, refused
from mosaic.cli.sweep.live_view import SweepView
from mosaic.cli.sweep.study_view import kept_preset, print_best, study_document, study_of_run
from mosaic.cli.sweep.sweep_request import (
    Asked,
    SearchOptions,
    SpaceOptions,
    new_sweep,
    resumed_sweep,
)
from mosaic.cli.train_config import TrainOptions
from mosaic.contract.layout import Home
from mosaic.contract.readiness import PreflightReport

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_SEARCH_FIELDS = tuple(field.name for field in msgspec.structs.fields(SearchOptions))


@click.command()
@click.argument("worker", required=False, shell_complete=complete_workers)
@click.option("--algo", shell_complete=complete_algorithms, help="One of the worker's algorithms.")
@script_option
@click.option("--env", "env_id", metavar="ID", help="The environment, such as CartPole-v1.")
@click.option("--env-arg", "env_args", multiple=True, metavar="NAME=VALUE", help="For its making.")
@click.option("--seed", type=click.IntRange(0), help="Of the search and its trials. Default: 1.")
@click.option("--total-timesteps", type=click.IntRange(1), metavar="N", help="Of each trial.")
@click.option("--max-episodes", type=click.IntRange(1), metavar="N", help="Of each trial.")
@click.option(
    "--search",
    "searches",
    multiple=True,
    metavar="NAME[=VALUES]",
    help="What to search: name=low..high, name=low..high:log or name=a,b,c; the name alone for"
    " the range that the worker names. Default: all that it names.",
)
@click.option(
    "--space",
    "space_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="What to search, in a TOML or JSON file; --search wins over it.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=complete_settings,
    help="A parameter that all trials share.",
)
@click.option("--trials", type=click.IntRange(1), metavar="N", help="How many. Default: 20.")
@click.option(
    "--sampler", metavar="NAME", help="tpe (the default), random, grid, cmaes, qmc or gp."
)
@click.option(
    "--pruner",
    metavar="NAME",
    help="none, median (the default), percentile, successive_halving, hyperband or threshold.",
)
@click.option(
    "--metric", metavar="NAME", help="What is to become good. Default: charts/episodic_return."
)
@click.option("--direction", type=click.Choice(["maximize", "minimize"]), help="Which is better.")
@click.option(
    "--summary",
    type=click.Choice(["mean", "last", "best"]),
    help="What of a run's curve counts. Default: mean, of its last 100 points.",
)
@click.option("--parallel", type=click.IntRange(1), metavar="N", help="Trials at once. Default: 1.")
@click.option("--seeds", type=click.IntRange(1), metavar="N", help="Runs of each trial.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="After so long no further trial begins.",
)
@click.option(
    "--option",
    "sweep_settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other parameter of the sweep; `mosaic workers sweep_worker` lists them.",
)
@click.option("--save-as", metavar="NAME", help="The preset that the best configuration becomes.")
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A run configuration in JSON for the trials to begin with; options win over it.",
)
@preset_option
@click.option("--name", help="For people; the run's id is made.")
@click.option("--priority", type=click.IntRange(-1000, 1000), help="Higher starts first.")
@click.option("--cpus", type=click.IntRange(1), help="For each run of a trial. Default: 1.")
@click.option("--gpus", type=click.IntRange(0), help="For each run of a trial. Default: 0.")
@click.option("--memory-mb", type=click.IntRange(1), help="For each run of a trial.")
@click.option("--extra", "extras", multiple=True, help="Of the worker's bundle, such as atari.")
@path_option
@click.option(
    "--telemetry",
    type=click.Choice(["auto", "all", "sampled", "columns", "off"]),
    help="How much trials tell of each step.",
)
@click.option(
    "--resume",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Go on from where this sweep ended.",
)
@click.option("--force", is_flag=True, help="Start even when something speaks against it.")
@click.option("--detach", "-d", is_flag=True, help="Start it and leave it alone.")
@json_option
@home_option
def start(
    home: Home,
    worker: str | None,
    resume: str | None,
    sweep_settings: tuple[str, ...],
    save_as: str | None,
    force: bool,
    detach: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Search for good parameters of an algorithm of WORKER; every trial is a run of its own.

    Ctrl-C leaves the sweep alone; a second one stops it, and --resume goes on with it.
    """
    begin_with = options.pop("preset")
    search = SearchOptions(
        **{name: options.pop(name) for name in _SEARCH_FIELDS if name in options}, preset=save_as
    )
    if resume is None and worker is None:
        raise click.UsageError("Say which worker: `mosaic sweep WORKER --algo A --env ID`.")
    if resume is not None:
        _expect_nothing_else(worker, begin_with, options)
    with connected(home, start=True) as client:
        if resume is not None:
            asked = resumed_sweep(client, resume, search, sweep_settings)
        else:
            space = SpaceOptions(
                searches=options.pop("searches"), space_file=options.pop("space_file")
            )
            asked = new_sweep(
                client,
                home,
                str(worker),
                TrainOptions(**options),
                begin_with,
                space,
                search,
                sweep_settings,
            )
        obstacle = _obstacle(client, asked, force)
        if obstacle is not None:
            if as_json:
                print_json(refused(obstacle))
            return exit_codes.FAILED
        return _run(client, home, asked, detach, as_json)


def _expect_nothing_else(
    worker: str | None, begin_with: str | None, options: dict[str, Any]
) -> None:
    given = [name for name, value in options.items() if value not in (None, (), False)]
    if worker or begin_with or given:
        raise click.UsageError(
            "--resume goes on with what the sweep was. Beside it only say how to search on:"
            " --trials, --sampler, --pruner, --parallel, --timeout, --option."
        )


def _obstacle(client: "TrainerClient", asked: Asked, force: bool) -> PreflightReport | None:
    """What keeps the sweep or its trials from starting; says what speaks against either."""
    for config in filter(None, (asked.config, asked.base)):
        readiness = client.preflight(config)
        if not may_start(readiness, force):
            return readiness
    return None


def _run(client: "TrainerClient", home: Home, asked: Asked, detach: bool, as_json: bool) -> int:
    run = client.submit(asked.config)
    run_id = run.run_id
    say(f"Sweep {run_id}: {formats.title(run)}")
    interrupted = False
    if detach:
        say(f"It runs in the background: `mosaic sweep show {formats.short_id(run_id)}`.")
    else:
        directory = home.run(run_id)
        interrupted = attend(client, run_id, lambda: SweepView(directory)).interrupted
    details = client.run(run_id)
    study = study_of_run(home.run(run_id))
    preset = kept_preset(home, home.run(run_id))
    if as_json:
        found = {"study": study_document(study), "preset": preset.name if preset else None}
        print_json({**as_document(details, home), **found})
        return exit_code_of(Attendance(details.run, interrupted))
    code = tell_result(details, home, interrupted=interrupted)
    if study is not None:
        print_best(study, preset)
    return code
