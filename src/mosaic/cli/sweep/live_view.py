"""SweepView: a sweep, live on stderr. A table on a terminal, a line for each trial elsewhere."""

from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mosaic.cli import formats
from mosaic.cli.output import message_console, state_text
from mosaic.cli.run_view import RunView, numbers_of
from mosaic.cli.sweep.study_view import (
    parameter_cells,
    parameter_columns,
    parameters_text,
    study_of_run,
)
from mosaic.client.sweeps.study import Study
from mosaic.contract.layout import RunDirectory
from mosaic.contract.runs import RunRecord

_MOST_ROWS = 15
_FINAL = ("complete", "pruned", "failed", "stopped")


class SweepView:
    """Shows what `show` is given, with the trials as they stand in the study's file."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self._console = message_console()
        self._lines = RunView() if not self._console.is_terminal else None
        self._live = Live(console=self._console, auto_refresh=False)
        self._told: set[int] = set()

    def __enter__(self) -> Self:
        if self._lines is None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, run: RunRecord) -> None:
        """The sweep as it is now."""
        study = study_of_run(self._directory)
        if self._lines is None:
            head = Text(f"{formats.short_id(run.run_id)} ") + state_text(run.state)
            head.append(f"  {numbers_of(run)}")
            warnings = [Text(f"Warning: {warning}", "yellow") for warning in run.warnings]
            body = [trial_table(study)] if study is not None and study.trials else []
            self._live.update(Group(head, *warnings, *body), refresh=True)
            return
        self._lines.show(run)
        if study is not None:
            self._tell_new(self._lines, study)

    def _tell_new(self, lines: RunView, study: Study) -> None:
        for trial in study.trials:
            if trial.state in _FINAL and trial.number not in self._told:
                self._told.add(trial.number)
                mark = ", the best so far" if trial == study.best_trial else ""
                value = f" {formats.real(trial.value)}" if trial.value is not None else ""
                lines.say(
                    f"trial {trial.number} {trial.state}{value}{mark}  {parameters_text(trial)}"
                )


def trial_table(study: Study) -> Table:
    """The newest trials and the best one."""
    columns = parameter_columns(study)
    table = Table(box=None, pad_edge=False)
    for name in ("trial", "state", "value"):
        table.add_column(name, justify="right" if name != "state" else "left")
    for name in columns:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    shown = study.trials[-_MOST_ROWS:]
    best = study.best_trial
    if best is not None and best not in shown:
        shown = (best, *shown)
    for trial in shown:
        table.add_row(
            f"{trial.number}{'*' if trial == best else ' '}",
            state_text(trial.state),
            formats.real(trial.last_value),
            *parameter_cells(trial, columns),
            style="bold" if trial == best else "",
        )
    return table
