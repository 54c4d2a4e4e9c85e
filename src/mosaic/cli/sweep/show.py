"""`mosaic sweep show`: the trials of a sweep, or of any Optuna study in a file."""

from pathlib import Path

import click

from mosaic.cli.completions import complete_runs
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json, result_console
from mosaic.cli.sweep.study_view import kept_preset, print_best, print_trials, study_document
from mosaic.cli.sweep.sweep_reference import find_sweep
from mosaic.client.sweeps.study import StudyError, read_study
from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home, RunDirectory


@click.command()
@click.argument("sweep", metavar="RUN|FILE", default="last", shell_complete=complete_runs)
@click.option("--study", "name", default="", metavar="NAME", help="Of a file with several.")
@json_option
@home_option
def show(home: Home, sweep: str, name: str, as_json: bool) -> None:
    """Every trial with its state, value and parameters, and the best of them.

    FILE is the SQLite file of any Optuna study, CleanRL's own tuner's too. The best trial is
    marked with a star.
    """
    run = None if Path(sweep).is_file() else _find(home, sweep)
    if run is not None and not run.study.exists():
        raise StudyError(
            f"Run {run.run_id} has no study.",
            remedy="Name a sweep; one that has only begun has its study in a moment.",
        )
    study = read_study(Path(sweep) if run is None else run.study, name)
    preset = None if run is None else kept_preset(home, run)
    if as_json:
        print_json({**(study_document(study) or {}), "preset": preset.name if preset else None})
        return
    direction = " and ".join(study.directions)
    result_console().print(f"{study.name} ({direction}), {len(study.trials)} trials", style="bold")
    print_trials(study)
    print_best(study, preset)


def _find(home: Home, reference: str) -> RunDirectory:
    """A whole id needs no daemon."""
    if is_ulid(reference):
        return home.run(reference)
    with connected(home) as client:
        return home.run(find_sweep(client, reference))
