"""`mosaic sweep start` and `show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.commands import ExitCode, command
from mosaic.cli.completion import (
    complete_algorithms,
    complete_runs,
    complete_settings,
    complete_workers,
)
from mosaic.cli.connection import connect
from mosaic.cli.formatting import run_title, short_id
from mosaic.cli.options import (
    detach_option,
    env_args_option,
    extras_option,
    force_option,
    home_option,
    imported_code_option,
    json_option,
    name_option,
    path_option,
    preset_option,
    script_option,
)
from mosaic.cli.preflight import confirm_preflight, rejected_document
from mosaic.cli.render import print_json, print_message, result_console
from mosaic.cli.run_details import run_document
from mosaic.cli.study_view import (
    SweepView,
    print_best,
    print_trials,
    saved_preset,
    study_document,
    study_of_run,
)
from mosaic.cli.sweep_config import (
    SearchOptions,
    SpaceOptions,
    SweepRequest,
    find_sweep,
    new_sweep,
    resumed_sweep,
)
from mosaic.cli.train_config import TrainOptions
from mosaic.cli.watch import WatchResult, exit_code_of, print_result, watch_run
from mosaic.client.sweeps.study import StudyError, read_study
from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.readiness import PreflightReport

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_SEARCH_FIELDS = tuple(field.name for field in msgspec.structs.fields(SearchOptions))


@command(
    examples=[
        "mosaic sweep cleanrl_worker --algo ppo --env CartPole-v1 --trials 30",
        "mosaic sweep --resume last --trials 10",
    ]
)
@click.argument("worker", required=False, shell_complete=complete_workers)
@click.option(
    "--algo",
    metavar="ID",
    shell_complete=complete_algorithms,
    help="Algorithm. Default: the worker's only one.",
)
@script_option
@click.option("--env", "env_id", metavar="ID", help="Environment, such as CartPole-v1.")
@env_args_option
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    help="Random seed of the search and its trials. Default: 1.",
)
@click.option(
    "--total-timesteps", type=click.IntRange(1), metavar="N", help="Stop each trial after N steps."
)
@click.option(
    "--max-episodes", type=click.IntRange(1), metavar="N", help="Stop each trial after N episodes."
)
@click.option(
    "--search",
    "searches",
    multiple=True,
    metavar="NAME[=VALUES]",
    help="Range: name=low..high[:log], name=a,b,c or name; repeatable. Default: all declared.",
)
@click.option(
    "--space",
    "space_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Search space in a TOML or JSON file; --search overrides it.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=complete_settings,
    help="Fixed parameter of all trials; repeatable.",
)
@click.option(
    "--trials", type=click.IntRange(1), metavar="N", help="Number of trials. Default: 20."
)
@click.option(
    "--sampler", metavar="NAME", help="Sampler: tpe, random, grid, cmaes, qmc or gp. Default: tpe."
)
@click.option(
    "--pruner",
    metavar="NAME",
    help="Pruner: none, median, percentile, successive_halving, hyperband or threshold."
    " Default: median.",
)
@click.option(
    "--metric", metavar="NAME", help="Metric to optimise. Default: charts/episodic_return."
)
@click.option(
    "--direction",
    type=click.Choice(["maximize", "minimize"]),
    help="Optimisation direction. Default: maximize.",
)
@click.option(
    "--summary",
    type=click.Choice(["mean", "last", "best"]),
    help="Value of a run's curve. Default: mean, of the last 100 points.",
)
@click.option(
    "--parallel", type=click.IntRange(1), metavar="N", help="Trials at the same time. Default: 1."
)
@click.option(
    "--seeds", type=click.IntRange(1), metavar="N", help="Runs per trial, with different seeds."
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Start no further trial after this time.",
)
@click.option(
    "--option",
    "sweep_settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Other parameter of the sweep; `mosaic workers sweep_worker` lists them.",
)
@click.option("--save-as", metavar="NAME", help="Save the best configuration as this preset.")
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Run configuration of the trials in JSON; options override it.",
)
@preset_option
@name_option
@click.option(
    "--priority",
    type=click.IntRange(-1000, 1000),
    metavar="N",
    help="Runs with a higher priority start first. Default: 0.",
)
@click.option(
    "--cpus", type=click.IntRange(1), metavar="N", help="CPUs for each run of a trial. Default: 1."
)
@click.option(
    "--gpus", type=click.IntRange(0), metavar="N", help="GPUs for each run of a trial. Default: 0."
)
@click.option(
    "--memory-mb", type=click.IntRange(1), metavar="MB", help="Memory for each run of a trial."
)
@extras_option
@path_option
@click.option(
    "--telemetry",
    type=click.Choice(["auto", "all", "sampled", "columns", "off"]),
    help="Step detail that trials record. Default: auto.",
)
@click.option(
    "--resume",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Continue this sweep.",
)
@imported_code_option
@force_option
@detach_option
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
    use_imported_code: bool,
    **options: Any,
) -> int:
    """Start a search for the best hyperparameters of WORKER; every trial is a separate run.

    Ctrl-C stops watching and leaves the sweep alone; a second Ctrl-C stops it. --resume continues
    a stopped sweep.
    """
    preset_name = options.pop("preset")
    search = SearchOptions(
        **{name: options.pop(name) for name in _SEARCH_FIELDS if name in options}, preset=save_as
    )
    if resume is None and worker is None:
        raise click.UsageError("Name a worker: `mosaic sweep WORKER --algo A --env ID`.")
    if resume is not None:
        _check_resume_options(worker, preset_name, options)
    with connect(home, start=True) as client:
        if resume is not None:
            request = resumed_sweep(
                client, resume, search, sweep_settings, use_imported_code=use_imported_code
            )
        else:
            space = SpaceOptions(
                searches=options.pop("searches"), space_file=options.pop("space_file")
            )
            request = new_sweep(
                client,
                home,
                str(worker),
                TrainOptions(**options),
                preset_name,
                space,
                search,
                sweep_settings,
            )
        rejection = _run_preflight(client, request, force)
        if rejection is not None:
            if as_json:
                print_json(rejected_document(rejection))
            return ExitCode.FAILED
        return _run(client, home, request, detach, as_json)


def _check_resume_options(
    worker: str | None, preset_name: str | None, options: dict[str, Any]
) -> None:
    others = [name for name, value in options.items() if value not in (None, (), False)]
    if worker or preset_name or others:
        raise click.UsageError(
            "--resume keeps the configuration of the sweep. Only these options may be added:"
            " --trials, --sampler, --pruner, --parallel, --timeout, --option."
        )


def _run_preflight(
    client: "TrainerClient", request: SweepRequest, force: bool
) -> PreflightReport | None:
    """Check the sweep and its trials; return the report that prevents the start, if any."""
    for config in filter(None, (request.config, request.base)):
        report = client.preflight(config)
        if not confirm_preflight(report, force):
            return report
    return None


def _run(
    client: "TrainerClient", home: Home, request: SweepRequest, detach: bool, as_json: bool
) -> int:
    run = client.submit(request.config)
    run_id = run.run_id
    print_message(f"Sweep {run_id}: {run_title(run)}")
    interrupted = False
    if detach:
        print_message(f"Running in the background: `mosaic sweep show {short_id(run_id)}`.")
    else:
        directory = home.run(run_id)
        interrupted = watch_run(client, run_id, lambda: SweepView(directory)).interrupted
    details = client.run(run_id)
    study = study_of_run(home.run(run_id))
    preset = saved_preset(home, home.run(run_id))
    if as_json:
        results = {"study": study_document(study), "preset": preset.name if preset else None}
        print_json({**run_document(details, home), **results})
        return exit_code_of(WatchResult(details.run, interrupted))
    code = print_result(details, home, interrupted=interrupted)
    if study is not None:
        print_best(study, preset)
    return code


@command(examples=["mosaic sweep show last", "mosaic sweep show optuna.db"])
@click.argument("sweep", metavar="RUN|FILE", default="last", shell_complete=complete_runs)
@click.option(
    "--study", "name", default="", metavar="NAME", help="Study to show, if the file has several."
)
@json_option
@home_option
def show(home: Home, sweep: str, name: str, as_json: bool) -> None:
    """Show the trials of a sweep with state, value and parameters, and the best one.

    FILE is the SQLite file of any Optuna study, such as one of CleanRL's tuner. A star marks the
    best trial.
    """
    run = None if Path(sweep).is_file() else _find_directory(home, sweep)
    if run is not None and not run.study.exists():
        raise StudyError(
            f"Run {run.run_id} has no study.",
            remedy="Name a sweep; a sweep that has just started may not have its study yet.",
        )
    study = read_study(Path(sweep) if run is None else run.study, name)
    preset = None if run is None else saved_preset(home, run)
    if as_json:
        print_json({**(study_document(study) or {}), "preset": preset.name if preset else None})
        return
    direction = " and ".join(study.directions)
    result_console().print(f"{study.name} ({direction}), {len(study.trials)} trials", style="bold")
    print_trials(study)
    print_best(study, preset)


def _find_directory(home: Home, reference: str) -> RunDirectory:
    """Return the directory of the run; a complete id needs no daemon."""
    if is_ulid(reference):
        return home.run(reference)
    with connect(home) as client:
        return home.run(find_sweep(client, reference))
