"""Watching a run until it finishes, Ctrl-C included, and printing its result.

The first Ctrl-C stops watching and leaves the run alone. A second one within a few seconds stops
the run, after a confirmation on a terminal.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import click
import msgspec
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from mosaic.cli.checkpoint_reference import newest_checkpoint
from mosaic.cli.commands import ExitCode
from mosaic.cli.formatting import format_number, pluralize, run_duration_s, short_id
from mosaic.cli.render import message_console, print_json, print_message, result_console
from mosaic.cli.run_details import run_document
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_count, format_duration
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunRecord, RunStats

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

SECOND_CTRL_C_VARIABLE = "MOSAIC_SECOND_CTRL_C_S"
"""Environment variable: within how many seconds a second Ctrl-C stops the run."""
_SECOND_CTRL_C_S = 6.0
_LOG_INTERVAL_S = 30.0
"""Without a terminal, a line at this interval shows that a long run is alive."""
_MAX_OUTPUT_LINES = 10
_UNFINISHED_STATES = (RunState.FAILED, RunState.LOST, RunState.CANCELLED)


class WatchResult(NamedTuple):
    """The run as last seen, and whether Ctrl-C ended the watching."""

    run: RunRecord
    interrupted: bool


class RunDisplay(Protocol):
    """Displays a run each time it changes; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, run: RunRecord) -> None: ...


class RunView:
    """One run, live on stderr: a progress bar on a terminal, else a line per change."""

    def __init__(self) -> None:
        self._console = message_console()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._state: RunState | None = None
        self._warnings: tuple[str, ...] = ()
        self._printed_at = time.monotonic()
        if self._console.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=None),
                TextColumn("{task.fields[stats]}"),
                console=self._console,
                expand=True,
            )

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, run: RunRecord) -> None:
        """Display the run."""
        for warning in run.warnings:
            if warning not in self._warnings:
                self.print_line(f"Warning: {warning}", style="yellow")
        self._warnings = run.warnings
        if self._progress is not None:
            self._update(self._progress, run)
        elif run.state is not self._state:
            self.print_line(f"{short_id(run.run_id)} {run.state} {run.reason}".rstrip())
            self._printed_at = time.monotonic()
        elif time.monotonic() - self._printed_at >= _LOG_INTERVAL_S:
            self.print_line(f"{short_id(run.run_id)} {run.state}  {run_stats_text(run)}")
            self._printed_at = time.monotonic()
        self._state = run.state

    def print_line(self, text: str, *, style: str = "") -> None:
        """Print a line above the progress bar."""
        self._console.print(text, style=style or None, soft_wrap=True)

    def _update(self, progress: Progress, run: RunRecord) -> None:
        total, done = run.digest.progress_total, run.digest.progress_done
        if run.state is RunState.SUCCEEDED and total is not None:
            done = total
        description = f"{short_id(run.run_id)} {run.state}"
        stats = run_stats_text(run)
        if self._task is None:
            self._task = progress.add_task(description, total=None, stats=stats)
        progress.update(
            self._task,
            description=description,
            # Without a total the bar pulses, except after the run has ended.
            total=total or (1.0 if run.state.is_final else None),
            completed=done or 0.0,
            stats=stats,
        )


def run_stats_text(run: RunRecord) -> str:
    """Return steps, speed, return and estimated time left, as far as known."""
    digest = run.digest
    parts = [_progress_text(digest)]
    if digest.sps and not run.state.is_final:
        parts.append(f"{format_count(digest.sps)}/s")
    # This mean covers the last episodes only; the results of an evaluation follow and cover all.
    has_results = run.mode == "evaluate" and run.state.is_final
    if digest.mean_return is not None and not has_results:
        parts.append(f"return {format_number(digest.mean_return)}")
    if digest.eta_s is not None and run.state is RunState.RUNNING:
        parts.append(f"ETA {format_duration(digest.eta_s)}")
    elif run.state.is_final:
        parts.append(format_duration(run_duration_s(run)))
    return "  ".join(part for part in parts if part)


def watch_run(
    client: "TrainerClient", run_id: str, make_view: Callable[[], RunDisplay] = RunView
) -> WatchResult:
    """Display the run until it ends or Ctrl-C is pressed."""
    try:
        return WatchResult(follow_run(client, run_id, make_view), interrupted=False)
    except KeyboardInterrupt:
        pass
    timeout_s = float(os.environ.get(SECOND_CTRL_C_VARIABLE, _SECOND_CTRL_C_S))
    if _wait_for_second_ctrl_c(
        f"The run is still running. Watch it with `mosaic runs watch {short_id(run_id)}`;"
        f" press Ctrl-C again within {timeout_s:.0f} s to stop it.",
        timeout_s,
    ) and (not _is_interactive() or _confirm_stop()):
        client.cancel(run_id, reason="Stopped with Ctrl-C.")
        return WatchResult(follow_run(client, run_id, make_view), interrupted=True)
    return WatchResult(client.run(run_id).run, interrupted=True)


def follow_run(
    client: "TrainerClient", run_id: str, make_view: Callable[[], RunDisplay] = RunView
) -> RunRecord:
    """Display the run until it ends. Ctrl-C raises `KeyboardInterrupt`."""
    with make_view() as view, client.watch(run_ids=[run_id], digests=True) as events:
        run = client.run(run_id).run
        view.show(run)
        while not run.state.is_final:
            event = next(events)
            run = event.run or client.run(run_id).run  # raises for a deleted run
            view.show(run)
    return run


def print_result(
    details: RunDetails,
    home: Home,
    *,
    interrupted: bool = False,
    as_json: bool = False,
    with_return: bool = True,
) -> int:
    """Print the run's state and results, and return the exit code.

    `with_return` False leaves out the mean return, which covers only the last episodes.
    """
    if as_json:
        print_json(run_document(details, home))
    else:
        _print_details(details, home, with_return)
    return exit_code_of(WatchResult(details.run, interrupted))


def exit_code_of(result: WatchResult) -> int:
    """Return 0 for a run that succeeded or is still running."""
    if result.interrupted:
        return ExitCode.INTERRUPTED
    state = result.run.state
    return ExitCode.FAILED if state.is_final and state is not RunState.SUCCEEDED else 0


def print_resume_hint(client: "TrainerClient", details: RunDetails) -> None:
    """Print the command that resumes the run, if it ended early and can be resumed."""
    run = details.run
    if run.state not in _UNFINISHED_STATES or run.mode != "train":
        return
    if msgspec.json.decode(details.config_json).get("script"):
        return  # scripts always start from the beginning
    try:
        if not client.describe(run.worker).supports.resume:
            return
        if newest_checkpoint(client, run.run_id) is None:
            return
    except UserError:
        return  # a hint is not worth an error
    print_message(f"Resume it: `mosaic train {run.worker} --resume {short_id(run.run_id)}`.")


def _print_details(details: RunDetails, home: Home, with_return: bool) -> None:
    run = details.run
    console = result_console()
    console.print(f"Run {run.run_id} {run.state}.", soft_wrap=True)
    if not run.state.is_final:
        return
    if run.reason:
        console.print(run.reason, soft_wrap=True)
    if run.remedy:
        console.print(run.remedy, soft_wrap=True)
    digest = run.digest
    parts = [pluralize(digest.steps_done, "step"), pluralize(digest.episodes, "episode")]
    if with_return and digest.mean_return is not None:
        parts.append(f"mean return {format_number(digest.mean_return)}")
    duration_s = run_duration_s(run)
    if duration_s is not None:
        parts.append(f"in {format_duration(duration_s)}")
    console.print(", ".join(parts))
    if digest.rejects:
        console.print(
            f"{pluralize(digest.rejects, 'line')} failed to parse:"
            f" `mosaic telemetry {short_id(run.run_id)} rejects` shows them.",
            style="yellow",
            soft_wrap=True,
        )
    if run.state in (RunState.FAILED, RunState.LOST) and details.output_tail:
        console.print("Last output:")
        for line in details.output_tail[-_MAX_OUTPUT_LINES:]:
            console.print(f"  {line}", soft_wrap=True)
    click.echo(f"Run directory: {home.path / details.directory}")
    click.echo(f"More: `mosaic runs show {short_id(run.run_id)}`")


def _progress_text(digest: RunStats) -> str:
    if digest.progress_done is None:
        return f"{format_count(digest.steps_done)} steps" if digest.steps_done else ""
    done = format_count(digest.progress_done)
    if digest.progress_total:
        done += f"/{format_count(digest.progress_total)}"
    return f"{done} {digest.progress_unit}".strip()


def _wait_for_second_ctrl_c(message: str, timeout_s: float) -> bool:
    """Return whether Ctrl-C is pressed again in time; Enter on a terminal ends the waiting."""
    read_fd, write_fd = os.pipe()
    # KeyboardInterrupt could be raised anywhere and lose the signal, and a Python handler does not
    # run if the signal arrives just before `select` blocks. The interpreter writes to the wakeup
    # descriptor immediately.
    os.set_blocking(write_fd, False)
    previous = signal.signal(signal.SIGINT, lambda *_: None)
    previous_fd = signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
    try:
        print_message(message)
        sources = [read_fd, sys.stdin] if _is_interactive() else [read_fd]
        return read_fd in select.select(sources, [], [], timeout_s)[0]
    finally:
        signal.set_wakeup_fd(previous_fd)
        signal.signal(signal.SIGINT, previous)
        os.close(read_fd)
        os.close(write_fd)


def _confirm_stop() -> bool:
    try:
        return click.confirm("\nStop the run?", err=True)
    except click.Abort:
        return False


def _is_interactive() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
