"""Writes an episode as JSON lines in the format of the telemetry protocol; works for any episode.

The lines `environment` and `episode_start` come first, then a `step` for each step, then the
`episode` line if the range includes the last step. The counterpart of `video`.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from mosaic.contract import numbers
from mosaic.contract.events import StepRecord
from mosaic.replay.export.export_request import ExportResult
from mosaic.replay.export.export_task import ExportTask, count_steps

_STEPS_PER_REPORT = 256


def write_jsonl(task: ExportTask, path: Path) -> ExportResult:
    """Write the selected steps to `path`. Raises `UserError`."""
    lines = 0
    with path.open("wb") as file:
        for line in _iterate_lines(task):
            file.write(line + b"\n")
            lines += 1
    return ExportResult(path=task.request.target, size_bytes=path.stat().st_size, lines=lines)


def _iterate_lines(task: ExportTask) -> Iterator[bytes]:
    details = task.details()
    end = count_steps(details)
    steps = task.request.select_steps(end)
    if details.environment_json:
        yield details.environment_json
    if details.start_json:
        yield details.start_json
    for step in task.steps(steps.start, steps.stop):
        yield _encode(step)
        done = step.step + 1 - steps.start
        if done % _STEPS_PER_REPORT == 0:
            task.cancellation.check()
            task.on_progress(done, len(steps))
    if details.end_json and steps.stop == end:
        yield details.end_json
    task.cancellation.check()
    task.on_progress(len(steps), len(steps))


def _encode(step: StepRecord) -> bytes:
    return msgspec.json.encode(numbers.to_wire(msgspec.to_builtins(step)))
