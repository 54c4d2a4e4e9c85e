"""Painter: one helper process that draws environments, as long as somebody asks for them.

`studio.py` has at most one. Blocking; for one thread at a time, while any other may kill it.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.errors import UserError
from mosaic.trainer.pictures.failures import (
    EnvironmentFailedError,
    NothingDrawnError,
    PainterCrashedError,
    PainterHangsError,
    PainterNotStartedError,
)
from mosaic.trainer.processes.worker_environment import simulation_environment
from mosaic.trainer.simulation.helper_messages import BrokenMessageError, Failed, Frame
from mosaic.trainer.simulation.helper_process import HelperProcess, HelperSilentError
from mosaic.trainer.simulation.runtime import SimulationRuntime
from mosaic.trainer.simulation.scratch_folders import ScratchFolders
from mosaic.trainer.simulation.simulation import end_in_words

_log = logging.getLogger(__name__)

_LAST_WORDS = 300


class DrawnPicture(msgspec.Struct, frozen=True):
    """`pixels` row by row from the top."""

    width: int
    height: int
    channels: int
    pixels: bytes


class Painter:
    """Starts the process. Raises `PainterNotStartedError`."""

    def __init__(
        self,
        runtime: SimulationRuntime,
        scratch: ScratchFolders,
        environment: Mapping[str, str],
        *,
        patience_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.runtime = runtime
        self._patience_s = patience_s
        self._clock = clock
        self._requests = 0
        self.is_usable = True
        """False once its process has crashed or was ended."""
        try:
            self._scratch = scratch.make()
            try:
                self._helper = self._start(Path(self._scratch.name), environment)
            except BaseException:
                self._scratch.cleanup()
                raise
        except OSError as error:
            raise PainterNotStartedError(error.strerror or str(error)) from error

    def draw(self, env_id: str, env_kwargs: Mapping[str, Any], seed: int) -> DrawnPicture:
        """Waits for the picture. Raises `UserError`; the next one may be asked for if usable."""
        self._requests += 1
        until = self._clock() + self._patience_s
        self._helper.newly_said()  # of the picture before
        self._helper.ask(
            {
                "request": self._requests,
                "env_id": env_id,
                "env_kwargs": dict(env_kwargs),
                "seed": seed,
            }
        )
        try:
            received = self._helper.receive(lambda: self._clock() > until)
        except HelperSilentError:
            raise self._lost(env_id, PainterHangsError(env_id, self._patience_s)) from None
        except BrokenMessageError as error:
            how = f"what it said cannot be read ({error})"
            raise self._lost(env_id, PainterCrashedError(env_id, how, "")) from error
        if received is None:
            how = end_in_words(self._helper.exit_code())
            said = self._helper.said[-_LAST_WORDS:]
            raise self._lost(env_id, PainterCrashedError(env_id, how, said))
        message, pixels = received
        if isinstance(message, Failed):
            if said := self._helper.newly_said():
                _log.warning("T477 %s failed while its picture was drawn:\n%s", env_id, said)
            raise EnvironmentFailedError(message.message, message.remedy)
        if not isinstance(message, Frame) or message.request != self._requests:
            how = "it answered something else"
            raise self._lost(env_id, PainterCrashedError(env_id, how, ""))
        if message.problem:
            raise NothingDrawnError(env_id, message.problem)
        return DrawnPicture(message.width, message.height, message.channels, bytes(pixels))

    def kill(self) -> None:
        """Ends it at once, from any thread; whoever waits for a picture gets an error."""
        self.is_usable = False
        self._helper.kill()

    def close(self) -> None:
        """Ends it and clears up. Not while another thread draws."""
        self.is_usable = False
        self._helper.close()
        self._scratch.cleanup()

    def _start(self, folder: Path, environment: Mapping[str, str]) -> HelperProcess:
        command = [str(self.runtime.python), "-m", "mosaic_worker.thumbnails"]
        path = os.pathsep.join(map(str, self.runtime.code))
        return HelperProcess(
            command, {**simulation_environment(environment), "PYTHONPATH": path}, folder
        )

    def _lost(self, env_id: str, error: UserError) -> UserError:
        """The process is of no more use."""
        if self.is_usable:  # else it was meant to end
            said = self._helper.said
            _log.warning(
                "T476 no picture of %s: %s%s", env_id, error.message, f"\n{said}" if said else ""
            )
        self.kill()
        return error
