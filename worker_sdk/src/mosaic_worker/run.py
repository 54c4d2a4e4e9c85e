"""Run: what the training function of a worker receives."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mosaic_worker.checkpoint import save_checkpoint
from mosaic_worker.compat import OldRunNames
from mosaic_worker.control import Control, ControlCommand
from mosaic_worker.emitter import Emitter
from mosaic_worker.heartbeat import PERIOD_SECONDS, Heartbeat
from mosaic_worker.run_control import RunControl
from mosaic_worker.stop_signals import StopSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker.checkpoint import Content
    from mosaic_worker.recording.recorder import EpisodeRecorder
    from mosaic_worker.run_config import RunConfig
    from mosaic_worker.tracking.trackers import Trackers

RUN_ID_VARIABLE = "MOSAIC_RUN_ID"
RUN_DIR_VARIABLE = "MOSAIC_RUN_DIR"
CHECKPOINT_VARIABLE = "MOSAIC_CHECKPOINT"

_BYE_TIMEOUT_S = 1.0


class RunFolder:
    """The run's directory, which is also found after it was moved.

    A worker is started in it, and its working directory moves with it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._status: os.stat_result | None = path.stat()
        except OSError:  # it does not exist yet: only its name is known
            self._status = None

    @property
    def path(self) -> Path:
        """Where the directory is now; its last known path if the worker has left it."""
        if not self._is_same_directory(self._path):
            try:
                current = Path.cwd()
            except FileNotFoundError:  # it was removed
                return self._path
            if self._is_same_directory(current):
                self._path = current
        return self._path

    def _is_same_directory(self, path: Path) -> bool:
        try:
            return self._status is not None and os.path.samestat(path.stat(), self._status)
        except OSError:
            return False


class Run(OldRunNames):
    """Telemetry, control and heartbeat of one run, created by `main`."""

    config: RunConfig

    def __init__(self, *, heartbeat_s: float = PERIOD_SECONDS) -> None:
        """Claim standard output, standard input and the stop signals. Main thread only."""
        self._run_control = RunControl()
        self.emitter = Emitter(run_control=self._run_control)
        self._folder = RunFolder(Path(os.environ.get(RUN_DIR_VARIABLE) or Path.cwd()))
        self.id = os.environ.get(RUN_ID_VARIABLE) or self.directory.name
        self.heartbeat = Heartbeat(self.emitter, heartbeat_s)
        self._control = Control(self.emitter, wake=self._run_control.notify)
        self._control.on("stop", lambda _: self.request_stop("requested by the stop command"))
        self._is_open = False
        self._trackers: Trackers | None = None
        self._recorders: dict[str | None, EpisodeRecorder] = {}
        self._signals = StopSignals(
            lambda number: self.request_stop(f"received {signal.Signals(number).name}"),
            self._exit_now,
        )
        self._signals.install()

    @property
    def directory(self) -> Path:
        """The run's directory. Read it for each file, because a user may move the home."""
        return self._folder.path

    @property
    def recorder(self) -> EpisodeRecorder:
        """Records the episodes of environments attached to it, as the run's config requests.

        Created on first use, and closed with the run.
        """
        return self.recorder_for(None)

    def recorder_for(self, agent_id: str | None) -> EpisodeRecorder:
        """The recorder of one of several agents; its lines carry `agent_id`.

        None: the only agent. Call it in the thread that attaches environments.
        """
        if agent_id not in self._recorders:
            from mosaic_worker.recording.recorder import (  # noqa: PLC0415 - not needed by every worker
                EpisodeRecorder,
            )

            self._recorders[agent_id] = EpisodeRecorder(
                self.emitter, detail=self.config.step_detail, agent_id=agent_id
            )
        return self._recorders[agent_id]

    @property
    def trackers(self) -> Trackers:
        """TensorBoard event files and Weights & Biases, as the run's config requests.

        Created on first use, and closed with the run.
        """
        if self._trackers is None:
            from mosaic_worker.tracking.trackers import make_trackers  # noqa: PLC0415 - as above

            self._trackers = make_trackers(self)
        return self._trackers

    def track(self, values: Mapping[str, float], step: int) -> None:
        """Log scalars to telemetry and to `trackers`."""
        self.emitter.metrics(values, step=step)
        self.trackers.scalars(values, step)

    @property
    def checkpoint(self) -> Path | None:
        """The checkpoint that this run starts from or plays with, if its config names one."""
        named = os.environ.get(CHECKPOINT_VARIABLE)
        return Path(named) if named else None

    @property
    def should_stop(self) -> bool:
        """Whether a stop was requested. Check it in every iteration of the loop."""
        return self._run_control.is_stopping

    @property
    def stop_reason(self) -> str:
        return self._run_control.reason

    def request_stop(self, reason: str) -> None:
        """Request the end of the worker's loop. Thread-safe."""
        if self._run_control.stop(reason) and self._is_open:
            self.emitter.status("stopping", reason)

    def wait(self, seconds: float) -> bool:
        """Sleep, or return early when a stop is requested. Returns `should_stop`."""
        return self._run_control.wait(seconds)

    def allow_pause(self) -> None:
        """Accept `pause` and `resume`; the loop must call `wait_while_paused`."""
        self._control.on("pause", lambda _: self._run_control.pause())
        self._control.on("resume", lambda _: self._run_control.resume())

    def wait_while_paused(self) -> bool:
        """Block while the run is paused; returns whether it was. Cheap when it is not paused."""
        if not self._run_control.is_paused or self._run_control.is_stopping:
            return False
        self.emitter.status("paused")
        self._run_control.wait_while_paused()
        if not self._run_control.is_stopping:
            self.emitter.status("running")
        return True

    @property
    def is_pause_requested(self) -> bool:
        """Whether `wait_while_paused` would block."""
        return self._run_control.is_paused

    def on(self, cmd: str, handler: Callable[[ControlCommand], None]) -> None:
        """Call `handler` for each command `cmd`, in the control thread."""
        self._control.on(cmd, handler)

    def accept(self, *cmds: str) -> None:
        """Queue these commands for `poll`."""
        self._control.accept(*cmds)

    def poll(self) -> ControlCommand | None:
        """The oldest queued command, or None."""
        return self._control.poll()

    def wait_for_command(self, seconds: float | None = None) -> ControlCommand | None:
        """The oldest queued command; waits for one, up to `seconds` if given.

        None if none arrived in time, or if a stop was requested.
        """
        command = self._control.poll()
        if command is None and (seconds is None or seconds > 0):
            self._run_control.wait_until(self._control.has_queued, seconds)
            command = self._control.poll()
        return None if self.should_stop else command

    def save_checkpoint(
        self,
        name: str,
        content: Content,
        *,
        step: int,
        metrics: Mapping[str, float] | None = None,
        **meta: Any,
    ) -> Path:
        """Write `checkpoints/<name>` atomically, and emit its `artifact` line."""
        return save_checkpoint(
            self.emitter, self.directory, name, content, step=step, metrics=metrics, **meta
        )

    def open(self) -> None:
        """Emit the status "running", read commands, and start the heartbeat.

        A run that was stopped before this emits neither "running" nor "stopping".
        """
        if not self.should_stop:
            self.emitter.status("running")
        self._is_open = True
        self._control.start()
        self.heartbeat.start()

    def close(self, outcome: str, error: str = "", remedy: str = "") -> None:
        """Close recorders and trackers, and write the last line."""
        if self._trackers is not None:
            self._trackers.close()
        self.heartbeat.stop()
        for recorder in self._recorders.values():
            recorder.close()
        self.emitter.bye(outcome, error, remedy)
        self._signals.restore()

    def _exit_now(self, number: int) -> None:
        """On the second signal: do not wait for the worker's code."""
        self.emitter.bye("cancelled", timeout=_BYE_TIMEOUT_S)
        os._exit(128 + number)
