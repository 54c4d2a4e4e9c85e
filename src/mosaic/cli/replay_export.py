"""`mosaic replay --mp4`, `--gif` and `--jsonl`: an episode as a file."""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from mosaic.cli.formatting import pluralize
from mosaic.cli.render import message_console, print_message
from mosaic.contract.formatting import format_size

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient
    from mosaic.replay.export.export_job import ExportJob
    from mosaic.replay.export.export_request import ExportResult
_POLL_INTERVAL_S = 0.1
_SUFFIXES = {"mp4": (".mp4",), "gif": (".gif",), "jsonl": (".jsonl", ".json", ".ndjson")}
_OTHER_FORMATS = frozenset(
    {*(suffix for suffixes in _SUFFIXES.values() for suffix in suffixes)}
    | {".avi", ".mov", ".mkv", ".webm", ".png", ".jpg", ".jpeg", ".webp", ".csv", ".txt"}
)


class ReplayProgress:
    """A progress bar on stderr, silent without a terminal; a context manager."""

    def __init__(self, description: str, unit: str) -> None:
        console = message_console()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.completed:,.0f}/{task.fields[total_text]} " + unit),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(description, total=None, total_text="?")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, done: int, total: int) -> None:
        """Update the bar; `total` 0 means that it is not known yet."""
        self._progress.update(
            self._task,
            total=total or None,
            completed=done,
            total_text=f"{total:,}" if total else "?",
        )


@dataclass(frozen=True)
class ExportOptions:
    """The options that concern a file; None means that an option was not given."""

    mp4: Path | None
    gif: Path | None
    jsonl: Path | None
    first_step: int | None
    last_step: int | None
    overlay: bool | None
    fps: float | None
    speed: float | None
    force: bool

    @property
    def has_target(self) -> bool:
        return bool(self._targets())

    def check(self) -> None:
        """Raise `click.UsageError` for options that cannot be combined."""
        targets = self._targets()
        if len(targets) > 1:
            raise click.UsageError("Give only one of --mp4, --gif and --jsonl.")
        for kind, target in targets.items():
            if target.suffix.lower() in _OTHER_FORMATS.difference(_SUFFIXES[kind]):
                raise click.UsageError(
                    f"--{kind} {target}: the suffix belongs to another format."
                    f" Use the suffix .{kind}, or the option of that format."
                )
        frame_options = {"--overlay": self.overlay, "--fps": self.fps, "--speed": self.speed}
        file_options = {"--from": self.first_step, "--to": self.last_step, "--force": self.force}
        given = [name for name, value in frame_options.items() if value is not None]
        if given and (self.jsonl is not None or not targets):
            raise click.UsageError(f"{given[0]} needs --mp4 or --gif.")
        given = [name for name, value in file_options.items() if value not in (None, False)]
        if given and not targets:
            raise click.UsageError(f"{given[0]} needs --mp4, --gif or --jsonl.")

    def request(self) -> Any:
        """Build the export's request. Asks on a terminal before it overwrites a file."""
        kind, target = next(iter(self._targets().items()))
        overwrite = self.force
        if not overwrite and _is_file(target):
            if sys.stdin is None or not sys.stdin.isatty():
                raise click.UsageError(f"{target} already exists; --force overwrites it.")
            click.confirm(f"Overwrite {target}?", abort=True, err=True)
            overwrite = True
        requests = importlib.import_module("mosaic.replay.export.export_request")
        return requests.ExportRequest(
            target=target,
            format=requests.ExportFormat(kind),
            first_step=self.first_step or 0,
            last_step=self.last_step,
            fps=self.fps,
            speed=self.speed or 1.0,
            overlay=bool(self.overlay),
            overwrite=overwrite,
        )

    def _targets(self) -> dict[str, Path]:
        files = {"mp4": self.mp4, "gif": self.gif, "jsonl": self.jsonl}
        return {kind: target for kind, target in files.items() if target is not None}


def export_episode(
    client: "TrainerClient", run_id: str, episode: int, options: ExportOptions
) -> dict[str, Any]:
    """Write the file and return its description. Ctrl-C removes a partial file."""
    request = options.request()
    jobs = importlib.import_module("mosaic.replay.export.export_job")
    job: ExportJob = jobs.ExportJob(client, run_id, episode, request)
    unit = "steps" if options.jsonl else "frames"
    try:
        with ReplayProgress(f"writing {request.target.name}", unit) as progress:
            while not job.wait(_POLL_INTERVAL_S):
                progress.show(job.state.done, job.state.total)
            progress.show(job.state.done, job.state.total)
    except KeyboardInterrupt:
        job.cancel()
        job.wait()
        raise
    return _document(request.format, job.result())


def print_export(document: dict[str, Any]) -> None:
    """Print the file on stdout and warnings on stderr."""
    for warning in document["warnings"]:
        print_message(f"Warning: {warning}", style="yellow")
    if document["format"] == "jsonl":
        content = pluralize(document["lines"], "line")
    else:
        frames = pluralize(document["frames"], "frame")
        content = f"{frames}, {document['duration_s']:.1f} s"
    click.echo(f"{document['file']}  {content}, {format_size(document['bytes'])}")


def _is_file(target: Path) -> bool:
    try:
        return target.is_file()
    except OSError:
        return False  # the export reports why it cannot be written


def _document(kind: str, result: "ExportResult") -> dict[str, Any]:
    document = {
        "file": str(result.path),
        "format": kind,
        "frames": result.frames,
        "lines": result.lines,
        "bytes": result.size_bytes,
        "duration_s": result.duration_s,
        "warnings": result.warnings,
    }
    if result.first_difference is not None:
        document["first_difference"] = result.first_difference
    return document
