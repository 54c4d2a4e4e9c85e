"""ExportJob: an export that runs in the background on its own thread.

Videos are written by `video`, JSON lines in the format of the telemetry protocol by this module.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from mosaic.contract import numbers
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.replay.cancellation import Cancellation, CancelledError
from mosaic.replay.export.export_request import ExportFormat, ExportRequest, ExportResult
from mosaic.replay.export.export_task import EpisodeSource, ExportTask, count_steps
from mosaic.replay.export.target_file import write_atomically
from mosaic.replay.export.video import write_video

_log = logging.getLogger(__name__)

_STEPS_PER_REPORT = 256


class ExportState(msgspec.Struct, kw_only=True, frozen=True):
    """Progress and result of an export."""

    phase: Literal["running", "done", "failed", "cancelled"] = "running"
    done: int = 0
    """Number of written frames or steps."""
    total: int = 0
    """0: unknown."""
    result: ExportResult | None = None
    error: UserError | None = None

    @property
    def fraction(self) -> float:
        """From 0 to 1."""
        if self.phase == "done":
            return 1.0
        return self.done / self.total if self.total else 0.0


class ExportJob:
    """Starts on construction. Thread-safe; a cancelled job leaves no file."""

    def __init__(
        self,
        source: EpisodeSource,
        run_id: str,
        episode: int,
        request: ExportRequest,
        *,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        """`on_change` is called after every change of `state`, on the job's own thread."""
        self._cancellation = Cancellation()
        self._task = ExportTask(
            source,
            run_id,
            episode,
            request,
            lambda done, total: self._change(done=done, total=total),
            self._cancellation,
        )
        self._on_change = on_change or (lambda: None)
        self._state = ExportState()
        self._thread = threading.Thread(target=self._run, name="episode export", daemon=True)
        self._thread.start()

    @property
    def state(self) -> ExportState:
        return self._state

    def cancel(self) -> None:
        """Cancel as soon as possible; after `wait` no file is left."""
        self._cancellation.cancel()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; return False on timeout."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def result(self) -> ExportResult:
        """Wait for the result; raise the `UserError` of a failed or cancelled export."""
        self._thread.join()
        if self._state.error is not None:
            raise self._state.error
        if self._state.result is None:
            raise RuntimeError("an export ended with neither a result nor an error")
        return self._state.result

    def _run(self) -> None:
        try:
            request = self._task.request
            with write_atomically(request.target, overwrite=request.overwrite) as path:
                result = self._write(path)
                self._cancellation.check()
            self._change(phase="done", result=result)
        except CancelledError as error:
            self._change(phase="cancelled", error=error)
        except UserError as error:
            self._change(phase="failed", error=error)
        except Exception as error:  # noqa: BLE001 - thread boundary
            _log.exception(
                "C184 export of episode %s of %s failed unexpectedly",
                self._task.episode,
                self._task.run_id,
            )
            self._change(phase="failed", error=_internal_error(error))

    def _write(self, path: Path) -> ExportResult:
        is_jsonl = self._task.request.format is ExportFormat.JSONL
        return (_write_jsonl if is_jsonl else write_video)(self._task, path)

    def _change(self, **changes: object) -> None:
        self._state = msgspec.structs.replace(self._state, **changes)
        self._on_change()


def _internal_error(error: Exception) -> UserError:
    return UserError(
        f"The export failed unexpectedly: {type(error).__name__}: {error}.",
        remedy="Try again; if it fails again, please report it.",
        code="C185",
    )


def _write_jsonl(task: ExportTask, path: Path) -> ExportResult:
    """Write the selected steps to `path`. Raises `UserError`.

    The lines `environment` and `episode_start` come first, then a `step` for each step, then the
    `episode` line if the range includes the last step.
    """
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
