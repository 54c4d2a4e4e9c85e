"""The study of a sweep: its trials and the best one, as table, live view and JSON."""

from typing import Any, NamedTuple, Self

import click
import msgspec
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mosaic.cli.formatting import format_number, short_id
from mosaic.cli.render import message_console, print_table, result_console, state_text
from mosaic.cli.watch import RunView, run_stats_text
from mosaic.client.presets import PresetError, load_preset, preset_path
from mosaic.client.sweeps.study import Study, StudyError, StudyTrial, read_study
from mosaic.client.sweeps.sweep_plan import BEST_FILE
from mosaic.contract.formatting import format_duration
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.runs import RunRecord

_MAX_COLUMNS = 6
_ALL_PARAMETERS = "parameters"
_MAX_ROWS = 15
_FINAL_STATES = ("complete", "pruned", "failed", "stopped")


class SavedPreset(NamedTuple):
    """The preset of the best trial."""

    name: str
    worker: str


def study_of_run(run: RunDirectory) -> Study | None:
    """Return the study of a sweep; None until it has one."""
    try:
        return read_study(run.study)
    except StudyError:
        return None


def saved_preset(home: Home, run: RunDirectory) -> SavedPreset | None:
    """Return the preset that holds the sweep's best configuration."""
    try:
        document = load_preset(home, str(run.path / BEST_FILE))
        preset = SavedPreset(document["metadata"]["preset"]["name"], document["worker"])
        return preset if preset_path(home, preset.name).is_file() else None
    except (PresetError, KeyError, TypeError):
        return None


def study_document(study: Study | None) -> dict[str, Any] | None:
    """Return the study as one JSON object with its best trial."""
    if study is None:
        return None
    return {**msgspec.to_builtins(study), "best": msgspec.to_builtins(study.best)}


def print_trials(study: Study) -> None:
    """Print all trials as a table."""
    columns = parameter_columns(study)
    print_table(
        ["trial", "state", "value", "time", "run", *columns, "reason"],
        [
            [
                f"{trial.number}{'*' if trial == study.best else ''}",
                state_text(trial.state),
                ", ".join(map(format_number, trial.values)) or format_number(trial.latest),
                format_duration(_duration_s(trial)),
                ", ".join(short_id(str(run)) for run in trial.attributes.get("runs", ())),
                *parameter_cells(trial, columns),
                _reason(trial),
            ]
            for trial in study.trials
        ],
        right=["trial", "value", "time"],
        cut=["reason", *columns],
        hide=["reason", "time", "run", *reversed(columns)],
    )


def print_best(study: Study, preset: SavedPreset | None) -> None:
    """Print the best trial, and how to train with it."""
    best = study.best
    console = result_console()
    if best is None:
        console.print("No trial has a value yet.")
        return
    console.print(
        f"Best: trial {best.number} of {len(study.trials)} with {format_number(best.value)}"
    )
    for name, value in best.params.items():
        console.print(f"  {name} = {value}", soft_wrap=True)
    if preset:
        click.echo(f"Train with it: `mosaic train {preset.worker} --preset {preset.name}`")


def parameter_columns(study: Study) -> list[str]:
    """Return a column for each parameter; one for all of them if there are many."""
    names = list(dict.fromkeys(name for trial in study.trials for name in trial.params))
    return names if len(names) <= _MAX_COLUMNS else [_ALL_PARAMETERS]


def parameter_cells(trial: StudyTrial, columns: list[str]) -> list[str]:
    """Return the trial's cells in these columns."""
    if columns == [_ALL_PARAMETERS]:
        return [parameters_text(trial)]
    return [_value_text(trial.params.get(name)) for name in columns]


def parameters_text(trial: StudyTrial) -> str:
    return " ".join(f"{name}={_value_text(value)}" for name, value in trial.params.items())


def _value_text(value: Any) -> str:
    """Format a parameter's value."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def _duration_s(trial: StudyTrial) -> float | None:
    if trial.started_at is None or trial.ended_at is None:
        return None
    return trial.ended_at - trial.started_at


def _reason(trial: StudyTrial) -> str:
    return str(trial.attributes.get("reason") or trial.attributes.get("stopped") or "")


class SweepView:
    """A sweep, live on stderr: a table on a terminal, else a line per finished trial."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self._console = message_console()
        self._run_view = RunView() if not self._console.is_terminal else None
        self._live = Live(console=self._console, auto_refresh=False)
        self._printed: set[int] = set()

    def __enter__(self) -> Self:
        if self._run_view is None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, run: RunRecord) -> None:
        """Display the sweep with the trials in its study file."""
        study = study_of_run(self._directory)
        if self._run_view is None:
            header = Text(f"{short_id(run.run_id)} ") + state_text(run.state)
            header.append(f"  {run_stats_text(run)}")
            warnings = [Text(f"Warning: {warning}", "yellow") for warning in run.warnings]
            body = [trial_table(study)] if study is not None and study.trials else []
            self._live.update(Group(header, *warnings, *body), refresh=True)
            return
        self._run_view.show(run)
        if study is not None:
            self._print_new_trials(self._run_view, study)

    def _print_new_trials(self, view: RunView, study: Study) -> None:
        for trial in study.trials:
            if trial.state in _FINAL_STATES and trial.number not in self._printed:
                self._printed.add(trial.number)
                mark = ", best so far" if trial == study.best else ""
                value = f" {format_number(trial.value)}" if trial.value is not None else ""
                view.print_line(
                    f"trial {trial.number} {trial.state}{value}{mark}  {parameters_text(trial)}"
                )


def trial_table(study: Study) -> Table:
    """Build a table of the newest trials and the best one."""
    columns = parameter_columns(study)
    table = Table(box=None, pad_edge=False)
    for name in ("trial", "state", "value"):
        table.add_column(name, justify="right" if name != "state" else "left")
    for name in columns:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    rows = study.trials[-_MAX_ROWS:]
    best = study.best
    if best is not None and best not in rows:
        rows = (best, *rows)
    for trial in rows:
        table.add_row(
            f"{trial.number}{'*' if trial == best else ' '}",
            state_text(trial.state),
            format_number(trial.latest),
            *parameter_cells(trial, columns),
            style="bold" if trial == best else "",
        )
    return table
