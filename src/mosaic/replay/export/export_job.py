"""ExportJob: an export on a thread of its own, for whoever has something else to do meanwhile."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from mosaic.contract.errors import UserError
from mosaic.replay.cancellation import Cancellation, CancelledError
from mosaic.replay.export.episode_source import EpisodeSource
from mosaic.replay.export.export_request import ExportFormat, ExportRequest, ExportResult
from mosaic.replay.export.export_task import ExportTask
from mosaic.replay.export.jsonl import write_jsonl
from mosaic.replay.export.target_file import new_file
from mosaic.replay.export.video import write_video

_log = logging.getLogger(__name__)


class ExportState(msgspec.Struct, kw_only=True, frozen=True):
    """How far it is."""

    phase: Literal["running", "done", "failed", "cancelled"] = "running"
    done: int = 0
    """Pictures, or steps."""
    total: int = 0
    """0: not known yet."""
    result: ExportResult | None = None
    error: UserError | None = None

    @property
    def fraction(self) -> float:
        """From 0 to 1."""
        if self.phase == "done":
            return 1.0
        return self.done / self.total if self.total else 0.0


class ExportJob:
    """Begins at once. Any thread may ask, cancel or wait; a cancelled job leaves no file."""

    def __init__(
        self,
        source: EpisodeSource,
        run_id: str,
        episode: int,
        request: ExportRequest,
        *,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        """`on_change` is called whenever `state` is new, on the job's own thread."""
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
        """Stop it as soon as possible; `wait` says when nothing is left of it."""
        self._cancellation.cancel()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether it is over, waiting for that so long at most."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def result(self) -> ExportResult:
        """Waits for the end. Raises the `UserError` that it ended with, if it did."""
        self._thread.join()
        if self._state.error is not None:
            raise self._state.error
        if self._state.result is None:
            raise RuntimeError("an export ended with neither a result nor an error")
        return self._state.result

    def _run(self) -> None:
        try:
            request = self._task.request
            with new_file(request.target, overwrite=request.overwrite) as part:
                result = self._write(part)
                self._cancellation.check()
            self._change(phase="done", result=result)
        except CancelledError as error:
            self._change(phase="cancelled", error=error)
        except UserError as error:
            self._change(phase="failed", error=error)
        except Exception as error:  # noqa: BLE001 - the edge of this thread
            _log.exception(
                "C184 export of episode %s of %s broke", self._task.episode, self._task.run_id
            )
            self._change(phase="failed", error=_broken(error))

    def _write(self, path: Path) -> ExportResult:
        is_jsonl = self._task.request.format is ExportFormat.JSONL
        return (write_jsonl if is_jsonl else write_video)(self._task, path)

    def _change(self, **news: object) -> None:
        self._state = msgspec.structs.replace(self._state, **news)
        self._on_change()


def _broken(error: Exception) -> UserError:
    return UserError(
        f"The export broke: {type(error).__name__}: {error}.",
        remedy="Try again; if it happens again, please report it.",
        code="C185",
    )
