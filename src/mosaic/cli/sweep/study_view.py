"""A study as the command line shows it: a table of its trials, its best one, one JSON document."""

from typing import Any, NamedTuple

import click
import msgspec

from mosaic.cli import formats
from mosaic.cli.output import print_table, result_console, state_text
from mosaic.client.presets import PresetError, load_preset, preset_path
from mosaic.client.sweeps.study import Study, StudyError, StudyTrial, read_study
from mosaic.client.sweeps.sweep_plan import BEST_FILE
from mosaic.contract.layout import Home, RunDirectory

_MOST_COLUMNS = 6
_ALL_PARAMETERS = "parameters"


class KeptPreset(NamedTuple):
    """What to train with."""

    name: str
    worker: str


def study_of_run(run: RunDirectory) -> Study | None:
    """The study of a sweep; None while it has none."""
    try:
        return read_study(run.study)
    except StudyError:
        return None


def kept_preset(home: Home, run: RunDirectory) -> KeptPreset | None:
    """The preset that a sweep's best configuration was kept as."""
    try:
        document = load_preset(home, str(run.path / BEST_FILE))
        kept = KeptPreset(document["metadata"]["preset"]["name"], document["worker"])
        return kept if preset_path(home, kept.name).is_file() else None
    except (PresetError, KeyError, TypeError):
        return None


def study_document(study: Study | None) -> dict[str, Any] | None:
    """The study as one JSON object, its best trial included."""
    if study is None:
        return None
    return {**msgspec.to_builtins(study), "best": msgspec.to_builtins(study.best_trial)}


def print_trials(study: Study) -> None:
    """All trials as a table."""
    columns = parameter_columns(study)
    print_table(
        ["trial", "state", "value", "time", "run", *columns, "reason"],
        [
            [
                f"{trial.number}{'*' if trial == study.best_trial else ''}",
                state_text(trial.state),
                ", ".join(map(formats.real, trial.values)) or formats.real(trial.last_value),
                formats.duration(_seconds(trial)),
                ", ".join(formats.short_id(str(run)) for run in trial.user_attrs.get("runs", ())),
                *parameter_cells(trial, columns),
                _reason(trial),
            ]
            for trial in study.trials
        ],
        right=["trial", "value", "time"],
        cut=["reason", *columns],
    )


def print_best(study: Study, preset: KeptPreset | None) -> None:
    """The best trial and what to do with it."""
    best = study.best_trial
    console = result_console()
    if best is None:
        console.print("No trial has come to a value.")
        return
    console.print(
        f"Best: trial {best.number} of {len(study.trials)} with {formats.real(best.value)}"
    )
    for name, value in best.params.items():
        console.print(f"  {name} = {value}", soft_wrap=True)
    if preset:
        click.echo(f"Train with it: `mosaic train {preset.worker} --preset {preset.name}`")


def parameter_columns(study: Study) -> list[str]:
    """A column for each parameter; one for all of them where there are many."""
    names = list(dict.fromkeys(name for trial in study.trials for name in trial.params))
    return names if len(names) <= _MOST_COLUMNS else [_ALL_PARAMETERS]


def parameter_cells(trial: StudyTrial, columns: list[str]) -> list[str]:
    """What stands in these columns."""
    if columns == [_ALL_PARAMETERS]:
        return [parameters_text(trial)]
    return [_value_text(trial.params.get(name)) for name in columns]


def parameters_text(trial: StudyTrial) -> str:
    return " ".join(f"{name}={_value_text(value)}" for name, value in trial.params.items())


def _value_text(value: Any) -> str:
    """A parameter's value, short."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def _seconds(trial: StudyTrial) -> float | None:
    if trial.started_at is None or trial.ended_at is None:
        return None
    return trial.ended_at - trial.started_at


def _reason(trial: StudyTrial) -> str:
    return str(trial.user_attrs.get("reason") or trial.user_attrs.get("stopped") or "")
