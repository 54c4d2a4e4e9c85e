"""RunView: one run, live on stderr. A bar on a terminal, a line for each change elsewhere."""

import time
from typing import Self

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from mosaic.cli import formats
from mosaic.cli.output import message_console
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats

_SAY_EVERY_S = 30.0
"""In a log file, so that a long run is seen to go on."""


class RunView:
    """Shows what `show` is given; use it in a `with` block."""

    def __init__(self) -> None:
        self._console = message_console()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._state: RunState | None = None
        self._warnings: tuple[str, ...] = ()
        self._said_at = time.monotonic()
        if self._console.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=None),
                TextColumn("{task.fields[numbers]}"),
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
        """The run as it is now."""
        for warning in run.warnings:
            if warning not in self._warnings:
                self.say(f"Warning: {warning}", style="yellow")
        self._warnings = run.warnings
        if self._progress is not None:
            self._draw(self._progress, run)
        elif run.state is not self._state:
            self.say(f"{formats.short_id(run.run_id)} {run.state} {run.reason}".rstrip())
            self._said_at = time.monotonic()
        elif time.monotonic() - self._said_at >= _SAY_EVERY_S:
            self.say(f"{formats.short_id(run.run_id)} {run.state}  {numbers_of(run)}")
            self._said_at = time.monotonic()
        self._state = run.state

    def say(self, text: str, *, style: str = "") -> None:
        """A line above the bar."""
        self._console.print(text, style=style or None, soft_wrap=True)

    def _draw(self, progress: Progress, run: RunRecord) -> None:
        total, done = run.digest.progress_total, run.digest.progress_done
        if run.state is RunState.SUCCEEDED and total is not None:
            done = total
        description = f"{formats.short_id(run.run_id)} {run.state}"
        numbers = numbers_of(run)
        if self._task is None:
            self._task = progress.add_task(description, total=None, numbers=numbers)
        progress.update(
            self._task,
            description=description,
            # Without a total the bar only shows that something happens; not when it is all over.
            total=total or (1.0 if run.state.is_final else None),
            completed=done or 0.0,
            numbers=numbers,
        )


def numbers_of(run: RunRecord) -> str:
    """Steps, speed, return and the time that is left, as far as they are known."""
    digest = run.digest
    parts = [_progress(digest)]
    if digest.sps and not run.state.is_final:
        parts.append(f"{formats.count(digest.sps)}/s")
    # Of the last episodes alone: the results of an evaluation, which follow, are of all of them.
    tells_its_own = run.mode == "evaluate" and run.state.is_final
    if digest.mean_return is not None and not tells_its_own:
        parts.append(f"return {formats.real(digest.mean_return)}")
    if digest.eta_s is not None and run.state is RunState.RUNNING:
        parts.append(f"ETA {formats.duration(digest.eta_s)}")
    elif run.state.is_final:
        parts.append(formats.duration(formats.run_time(run)))
    return "  ".join(part for part in parts if part)


def _progress(digest: RunStats) -> str:
    if digest.progress_done is None:
        return f"{formats.count(digest.steps_done)} steps" if digest.steps_done else ""
    done = formats.count(digest.progress_done)
    if digest.progress_total:
        done += f"/{formats.count(digest.progress_total)}"
    return f"{done} {digest.progress_unit}".strip()
