"""ResimulationSession: one recorded episode, simulated again in a helper process for one client.

`service/resimulation.py` creates one per call. Blocking; one thread reads its parts, while others
may request frames and kill it.
"""

import logging
import os
import struct
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from mosaic.contract import numbers
from mosaic.contract.episodes import EpisodeRecording
from mosaic.contract.errors import UserError
from mosaic.contract.regular_files import open_regular
from mosaic.trainer.processes.process_environment import simulation_environment
from mosaic.trainer.simulation import errors
from mosaic.trainer.simulation.helper_process import (
    BrokenMessageError,
    Checked,
    Done,
    Failed,
    FrameMessage,
    HelperProcess,
    HelperTimeoutError,
    Opened,
    ScratchFolders,
    describe_exit,
)
from mosaic.trainer.simulation.runtime import SimulationRuntime

_log = logging.getLogger(__name__)

_MAX_STDERR_LENGTH = 600


class SimulationPart(msgspec.Struct, frozen=True):
    """A message of the helper, with the compressed pixels of a frame or the opening's warnings."""

    message: Opened | FrameMessage | Checked | Done
    zstd: bytes = b""
    warnings: tuple[str, ...] = ()


class ResimulationSession:
    """Starts the helper process. Raises `UserError` when it cannot be started.

    `environment` is that of workers, without secrets; `timeout_s` limits how long the helper may
    neither send a message nor take a step while a request is pending.
    """

    def __init__(
        self,
        recording: EpisodeRecording,
        runtime: SimulationRuntime,
        scratch: ScratchFolders,
        environment: Mapping[str, str],
        *,
        verify_only: bool,
        timeout_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._recording = recording
        self._runtime = runtime
        self._verify_only = verify_only
        self._timeout_s = timeout_s
        self._compressor = zstandard.ZstdCompressor(level=1)
        self._lock = threading.Lock()
        self._newest_request = 0
        self._is_opened = False
        self._is_pending = verify_only
        self._no_more_requests = False
        self._is_ending = False
        self._clock = clock
        self._silent_since = clock()
        self._seen_at: tuple[int, int] | None = None
        try:
            self._scratch = scratch.make()
            try:
                self._helper = self._start(Path(self._scratch.name), environment)
            except BaseException:
                self._scratch.cleanup()
                raise
        except OSError as error:
            raise errors.simulation_not_started(error.strerror or str(error)) from error

    @property
    def steps(self) -> int:
        return len(self._recording.actions)

    def ask(self, request: int, first: int, count: int) -> None:
        """Request frames; the previous request is cancelled. Never blocks."""
        with self._lock:
            self._newest_request = request
            self._silent_since = self._clock()
            self._is_pending = True
        self._helper.send({"request": request, "first": first, "count": count})

    def is_current(self, message: Opened | FrameMessage | Checked | Done) -> bool:
        """Whether it does not belong to a request that a newer one has replaced."""
        return (
            not isinstance(message, (FrameMessage, Done)) or message.request == self._newest_request
        )

    def no_more_requests(self) -> None:
        """The client sends no more requests: end after the pending one."""
        with self._lock:
            self._no_more_requests = True
            is_idle = self._is_opened and not self._is_pending
        if is_idle:
            self.kill()

    def next_part(self) -> SimulationPart | None:
        """Wait for the next part; None at the end or when it was killed. Raises `UserError`."""
        while not self._is_ending:
            self._silent_since = self._clock()
            try:
                received = self._helper.receive(self._has_timed_out)
            except HelperTimeoutError:
                raise self._timed_out() from None
            except BrokenMessageError as error:
                raise self._crashed(f"its output cannot be decoded ({error})") from error
            if received is None:
                self._check_end()
                return None
            message, pixels = received
            if isinstance(message, Failed):
                self._helper.exit_code()  # its stderr is complete then
                self._log_end(message.message)
                raise errors.environment_failed(message.message, message.remedy)
            with self._lock:
                part = self._part(message)
            if part is not None:
                return self._with_pixels(part, pixels)
        return None

    def kill(self) -> None:
        """Kill it from any thread; a thread that waits for a part gets None."""
        self._is_ending = True
        self._helper.kill()

    def close(self) -> None:
        """Kill it and remove its files. Not while another thread waits for a part."""
        self.kill()
        self._helper.close()
        self._scratch.cleanup()

    def _start(self, folder: Path, environment: Mapping[str, str]) -> HelperProcess:
        self._position = folder / "position"
        record = folder / "recording.json"
        plain = numbers.to_wire(msgspec.to_builtins(self._recording))
        record.write_bytes(msgspec.json.encode(plain))
        command = [
            str(self._runtime.python),
            *("-m", "mosaic_worker.resimulation", str(record)),
            *("--position", str(self._position)),
            *(["--verify"] if self._verify_only else []),
        ]
        path = os.pathsep.join(map(str, self._runtime.code))
        return HelperProcess(
            command, {**simulation_environment(environment), "PYTHONPATH": path}, folder
        )

    def _part(self, message: Opened | FrameMessage | Checked | Done) -> SimulationPart | None:
        if isinstance(message, Opened):
            return self._opened(message)
        if not self.is_current(message):
            return None
        if isinstance(message, Done) or (
            isinstance(message, Checked) and message.is_over and self._verify_only
        ):
            self._is_pending = False
            self._is_ending = self._verify_only or self._no_more_requests
        return SimulationPart(message)

    def _with_pixels(self, part: SimulationPart, pixels: memoryview) -> SimulationPart:
        if not pixels:
            return part
        return msgspec.structs.replace(part, zstd=self._compressor.compress(pixels))

    def _opened(self, message: Opened) -> SimulationPart:
        self._is_opened = True
        self._is_ending = self._no_more_requests and not self._is_pending
        changes = list_package_changes(self._recording.packages, message.packages)
        return SimulationPart(message, warnings=(*self._runtime.warnings, *changes))

    def _has_timed_out(self) -> bool:
        is_pending = self._is_pending or not self._is_opened
        position = read_position(self._position)
        if position != self._seen_at:  # stepping to a distant frame is progress
            self._seen_at, self._silent_since = position, self._clock()
        silent_s = self._clock() - self._silent_since
        return is_pending and silent_s > self._timeout_s

    def _check_end(self) -> None:
        """Raise unless the end of its output was requested."""
        if self._is_ending:
            return
        code = self._helper.exit_code()
        raise self._crashed(describe_exit(code))

    def _crashed(self, how: str) -> UserError:
        when = describe_position(self._position)
        self._log_end(f"{how} {when}")
        return errors.simulation_crashed(how, when, self._stderr_tail())

    def _timed_out(self) -> UserError:
        when = describe_position(self._position)
        self._log_end(f"no response for {self._timeout_s:.0f} s {when}")
        self._helper.kill()
        return errors.simulation_timed_out(self._timeout_s, when, self._stderr_tail())

    def _stderr_tail(self) -> str:
        return self._helper.stderr_tail[-_MAX_STDERR_LENGTH:]

    def _log_end(self, reason: str) -> None:
        stderr_tail = self._helper.stderr_tail
        _log.warning(
            "T417 the replay of an episode of %s failed: %s%s",
            self._recording.env_id,
            reason,
            f"\n{stderr_tail}" if stderr_tail else "",
        )


# The numbers of `mosaic_worker.resimulation.position`.
_POSITION_TEXTS = {
    0: "while the environment was created",
    1: "while the environment was reset",
    2: "in step {}",
    3: "while frame {} was rendered",
    4: "after {} steps, without a pending request",
}
_LAYOUT = struct.Struct("<qq")


def read_position(path: Path) -> tuple[int, int] | None:
    """The phase and the step in the helper's position file; None before the first."""
    try:
        with open(open_regular(path), "rb") as file:  # noqa: PTH123 - opened by descriptor
            phase, number = _LAYOUT.unpack(file.read(_LAYOUT.size))
    except (OSError, struct.error):
        return None
    return phase, number


def describe_position(path: Path) -> str:
    """Where the helper is, or was when it crashed, such as "in step 17"."""
    position = read_position(path)
    if position is None:
        return "before the environment was created"
    phase, number = position
    return _POSITION_TEXTS.get(phase, "at an unknown step").format(number)


_MAX_NAMED = 10


def list_package_changes(
    recorded: Mapping[str, Any], here: Mapping[str, str | None]
) -> tuple[str, ...]:
    """A warning with the packages whose version differs from the recorded one, if any."""
    changed = [
        f"{name} {version} recorded, {here[name] or 'none'} installed"
        for name, version in recorded.items()
        if name in here and here[name] != version
    ]
    if not changed:
        return ()
    named = "; ".join(changed[:_MAX_NAMED])
    more = len(changed) - _MAX_NAMED
    rest = f"; and {more} more" if more > 0 else ""
    return (f"Package versions differ from the recorded ones: {named}{rest}.",)
