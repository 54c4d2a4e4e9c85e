"""`mosaic replay --mp4`, `--gif` and `--jsonl`: an episode as a file."""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mosaic.cli import formats
from mosaic.cli.output import say
from mosaic.cli.replay.progress import ReplayProgress

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient
    from mosaic.replay.export.export_job import ExportJob
    from mosaic.replay.export.export_request import ExportResult

_LOOK_EVERY_S = 0.1
_SUFFIXES = {"mp4": (".mp4",), "gif": (".gif",), "jsonl": (".jsonl", ".json", ".ndjson")}
_OTHER_FORMATS = frozenset(
    {*(suffix for suffixes in _SUFFIXES.values() for suffix in suffixes)}
    | {".avi", ".mov", ".mkv", ".webm", ".png", ".jpg", ".jpeg", ".webp", ".csv", ".txt"}
)


@dataclass(frozen=True)
class ExportOptions:
    """What was given of the options that concern a file; None: was not given."""

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
    def is_wanted(self) -> bool:
        return bool(self._targets())

    def check(self) -> None:
        """Raises `click.UsageError` for options that do not go together."""
        targets = self._targets()
        if len(targets) > 1:
            raise click.UsageError("--mp4, --gif and --jsonl write one file at a time.")
        for kind, target in targets.items():
            if target.suffix.lower() in _OTHER_FORMATS.difference(_SUFFIXES[kind]):
                raise click.UsageError(
                    f"--{kind} {target}: the file's name says that it is something else."
                    f" Let it end in .{kind}, or use the option of that format."
                )
        for_pictures = {"--overlay": self.overlay, "--fps": self.fps, "--speed": self.speed}
        for_files = {"--from": self.first_step, "--to": self.last_step, "--force": self.force}
        given = [name for name, value in for_pictures.items() if value is not None]
        if given and (self.jsonl is not None or not targets):
            raise click.UsageError(f"{given[0]} is for --mp4 and --gif.")
        given = [name for name, value in for_files.items() if value not in (None, False)]
        if given and not targets:
            raise click.UsageError(f"{given[0]} is for --mp4, --gif and --jsonl.")

    def request(self) -> Any:
        """As the export takes it. Asks whether a file may be replaced, where it can."""
        kind, target = next(iter(self._targets().items()))
        overwrite = self.force
        if not overwrite and _is_there(target):
            if sys.stdin is None or not sys.stdin.isatty():
                raise click.UsageError(f"{target} is there already; --force replaces it.")
            click.confirm(f"Replace {target}?", abort=True, err=True)
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
        given = {"mp4": self.mp4, "gif": self.gif, "jsonl": self.jsonl}
        return {kind: target for kind, target in given.items() if target is not None}


def export_episode(
    client: "TrainerClient", run_id: str, episode: int, options: ExportOptions
) -> dict[str, Any]:
    """Write the file and say what it is. Ctrl-C leaves none behind."""
    request = options.request()
    jobs = importlib.import_module("mosaic.replay.export.export_job")
    job: ExportJob = jobs.ExportJob(client, run_id, episode, request)
    unit = "steps" if options.jsonl else "pictures"
    try:
        with ReplayProgress(f"writing {request.target.name}", unit) as progress:
            while not job.wait(_LOOK_EVERY_S):
                progress.show(job.state.done, job.state.total)
            progress.show(job.state.done, job.state.total)
    except KeyboardInterrupt:
        job.cancel()
        job.wait()
        raise
    return _document(request.format, job.result())


def print_export(document: dict[str, Any]) -> None:
    """The file on stdout, what to be warned of on stderr."""
    for warning in document["warnings"]:
        say(f"Warning: {warning}", style="yellow")
    if document["format"] == "jsonl":
        what = formats.amount(document["lines"], "line")
    else:
        pictures = formats.amount(document["frames"], "picture")
        what = f"{pictures}, {document['duration_s']:.1f} s"
    click.echo(f"{document['file']}  {what}, {formats.size(document['bytes'])}")


def _is_there(target: Path) -> bool:
    try:
        return target.is_file()
    except OSError:
        return False  # why nothing can be written there, the export says


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
