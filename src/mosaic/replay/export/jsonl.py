"""An episode as lines of JSON, in the words of the protocol: it works for every episode.

The lines `environment` and `episode_start` come first, then a `step` for each step, then the
`episode` line when the range goes to the end.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from mosaic.contract import numbers
from mosaic.contract.events import StepRecord
from mosaic.replay.export.episode_source import step_end
from mosaic.replay.export.export_request import ExportResult
from mosaic.replay.export.export_task import ExportTask

_STEPS_PER_REPORT = 256


def write_jsonl(task: ExportTask, path: Path) -> ExportResult:
    """Everything that was asked for, into `path`. Raises `UserError`."""
    lines = 0
    with path.open("wb") as file:
        for line in _lines(task):
            file.write(line + b"\n")
            lines += 1
    return ExportResult(path=task.request.target, size_bytes=path.stat().st_size, lines=lines)


def _lines(task: ExportTask) -> Iterator[bytes]:
    details = task.details()
    end = step_end(details)
    steps = task.request.steps_of(end)
    if details.environment_json:
        yield details.environment_json
    if details.start_json:
        yield details.start_json
    for step in task.steps(steps.start, steps.stop):
        yield _line(step)
        done = step.step + 1 - steps.start
        if done % _STEPS_PER_REPORT == 0:
            task.cancellation.check()
            task.on_progress(done, len(steps))
    if details.end_json and steps.stop == end:
        yield details.end_json
    task.cancellation.check()
    task.on_progress(len(steps), len(steps))


def _line(step: StepRecord) -> bytes:
    return msgspec.json.encode(numbers.to_wire(msgspec.to_builtins(step)))
