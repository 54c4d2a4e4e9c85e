"""Simulation: one episode that is played again for one client, from its start to its end.

`service/resimulation.py` makes one per call. Blocking; one thread at a time takes its parts, while
others may ask for frames and end it.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import zstandard

from mosaic.contract import numbers
from mosaic.contract.episodes import EpisodeRecording
from mosaic.contract.errors import UserError
from mosaic.trainer.processes.worker_environment import simulation_environment
from mosaic.trainer.simulation.failures import (
    SimulationCrashedError,
    SimulationFailedError,
    SimulationHangsError,
    SimulationNotStartedError,
)
from mosaic.trainer.simulation.helper_messages import (
    BrokenMessageError,
    Checked,
    Done,
    Failed,
    Frame,
    Opened,
)
from mosaic.trainer.simulation.helper_position import position_in_words, position_of
from mosaic.trainer.simulation.helper_process import HelperProcess, HelperSilentError
from mosaic.trainer.simulation.package_changes import package_warnings
from mosaic.trainer.simulation.runtime import SimulationRuntime
from mosaic.trainer.simulation.scratch_folders import ScratchFolders

_log = logging.getLogger(__name__)

_LAST_WORDS = 600


class SimulationPart(msgspec.Struct, frozen=True):
    """A message of the helper, with the compressed pixels of a frame and the warnings at the
    opening."""

    message: Opened | Frame | Checked | Done
    zstd: bytes = b""
    warnings: tuple[str, ...] = ()


class Simulation:
    """Starts the helper process. Raises `SimulationNotStartedError`.

    `environment` is what workers get, without secrets; `patience_s` says how long the helper may
    neither say anything nor take a step while something is asked of it.
    """

    def __init__(
        self,
        recording: EpisodeRecording,
        runtime: SimulationRuntime,
        scratch: ScratchFolders,
        environment: Mapping[str, str],
        *,
        verify_only: bool,
        patience_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._recording = recording
        self._runtime = runtime
        self._verify_only = verify_only
        self._patience_s = patience_s
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
            raise SimulationNotStartedError(error.strerror or str(error)) from error

    @property
    def steps(self) -> int:
        return len(self._recording.actions)

    def ask(self, request: int, first: int, count: int) -> None:
        """Asks for frames; what was asked for before is given up. Never waits."""
        with self._lock:
            self._newest_request = request
            self._silent_since = self._clock()
            self._is_pending = True
        self._helper.ask({"request": request, "first": first, "count": count})

    def is_wanted(self, message: Opened | Frame | Checked | Done) -> bool:
        """Whether it is not of a request that a newer one has replaced."""
        return not isinstance(message, (Frame, Done)) or message.request == self._newest_request

    def no_more_requests(self) -> None:
        """The client will ask for nothing more: it ends with what is asked for now."""
        with self._lock:
            self._no_more_requests = True
            is_idle = self._is_opened and not self._is_pending
        if is_idle:
            self.kill()

    def next_part(self) -> SimulationPart | None:
        """Waits for the next part; None when all is said, or it was ended. Raises `UserError`."""
        while not self._is_ending:
            self._silent_since = self._clock()
            try:
                received = self._helper.receive(self._is_silent_too_long)
            except HelperSilentError:
                raise self._hangs() from None
            except BrokenMessageError as error:
                raise self._broke_off(f"what it said cannot be read ({error})") from error
            if received is None:
                self._check_end()
                return None
            message, pixels = received
            if isinstance(message, Failed):
                self._helper.exit_code()  # by then all that it said is here
                self._log_end(message.message)
                raise SimulationFailedError(message.message, message.remedy)
            with self._lock:
                part = self._part(message)
            if part is not None:
                return self._with_pixels(part, pixels)
        return None

    def kill(self) -> None:
        """Ends it at once, from any thread; whoever waits for a part gets none."""
        self._is_ending = True
        self._helper.kill()

    def close(self) -> None:
        """Ends it and clears up. Not while another thread waits for a part."""
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

    def _part(self, message: Opened | Frame | Checked | Done) -> SimulationPart | None:
        if isinstance(message, Opened):
            return self._opened(message)
        if not self.is_wanted(message):
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
        changes = package_warnings(self._recording.packages, message.packages)
        return SimulationPart(message, warnings=(*self._runtime.warnings, *changes))

    def _is_silent_too_long(self) -> bool:
        is_asked = self._is_pending or not self._is_opened
        position = position_of(self._position)
        if position != self._seen_at:  # on its way to a far frame: silent, but no hang
            self._seen_at, self._silent_since = position, self._clock()
        silent_s = self._clock() - self._silent_since
        return is_asked and silent_s > self._patience_s

    def _check_end(self) -> None:
        """Its output has ended: as it was told to, or by a crash."""
        if self._is_ending:
            return
        code = self._helper.exit_code()
        raise self._broke_off(end_in_words(code))

    def _broke_off(self, how: str) -> UserError:
        when = position_in_words(self._position)
        self._log_end(f"{how} {when}")
        return SimulationCrashedError(how, when, self._last_words())

    def _hangs(self) -> UserError:
        when = position_in_words(self._position)
        self._log_end(f"silent for {self._patience_s:.0f} s {when}")
        self._helper.kill()
        return SimulationHangsError(self._patience_s, when, self._last_words())

    def _last_words(self) -> str:
        return self._helper.said[-_LAST_WORDS:]

    def _log_end(self, reason: str) -> None:
        said = self._helper.said
        _log.warning(
            "T417 the replay of an episode of %s broke off: %s%s",
            self._recording.env_id,
            reason,
            f"\n{said}" if said else "",
        )


def end_in_words(code: int | None) -> str:
    """How a helper process ended, from its exit code."""
    if code is None or code >= 0:
        return f"it ended with exit code {code}"
    names = {int(number): number.name for number in signal.Signals}
    return f"it was ended by {names.get(-code, f'signal {-code}')}"
