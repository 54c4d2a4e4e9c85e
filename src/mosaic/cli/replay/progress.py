"""ReplayProgress: a bar on stderr while an episode is played again. Silent without a terminal."""

from typing import Self

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from mosaic.cli.output import message_console


class ReplayProgress:
    """Shows what `show` is given; use it in a `with` block."""

    def __init__(self, description: str, unit: str) -> None:
        console = message_console()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.completed:,.0f}/{task.fields[total_words]} " + unit),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(description, total=None, total_words="?")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, done: int, total: int) -> None:
        """`total` 0: not known yet."""
        self._progress.update(
            self._task,
            total=total or None,
            completed=done,
            total_words=f"{total:,}" if total else "?",
        )
