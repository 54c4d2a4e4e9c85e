"""RenderProcess: a helper process that renders one frame of each requested environment.

`ThumbnailService` has at most one. Blocking; one thread at a time, while any other may kill it.
Each error concerns one environment only.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.errors import UserError
from mosaic.trainer.processes.process_environment import simulation_environment
from mosaic.trainer.simulation.helper_process import (
    BrokenMessageError,
    Failed,
    FrameMessage,
    HelperProcess,
    HelperTimeoutError,
    ScratchFolders,
    describe_exit,
)
from mosaic.trainer.simulation.runtime import SimulationRuntime

_log = logging.getLogger(__name__)

_MAX_STDERR_LENGTH = 300
PACKAGES_MISSING = "T470"
"""The packages of an environment are not installed, so it has no thumbnail. Clients offer to
install the bundle for this code."""
ENVIRONMENT_FAILED = "T471"
"""There is no thumbnail of an environment that cannot be created or reset, or is unknown."""
_STILL_PLAYABLE = "Playing it does not depend on the thumbnail."


class Thumbnail(msgspec.Struct, frozen=True):
    """`pixels` are rows from the top."""

    width: int
    height: int
    channels: int
    pixels: bytes


class RenderProcess:
    """Starts the process. Raises `UserError` when it cannot be started."""

    def __init__(
        self,
        runtime: SimulationRuntime,
        scratch: ScratchFolders,
        environment: Mapping[str, str],
        *,
        timeout_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.runtime = runtime
        self._timeout_s = timeout_s
        self._clock = clock
        self._requests = 0
        self.is_usable = True
        """False once the process has crashed or was killed."""
        try:
            self._scratch = scratch.make()
            try:
                self._helper = self._start(Path(self._scratch.name), environment)
            except BaseException:
                self._scratch.cleanup()
                raise
        except OSError as error:
            raise renderer_not_started(error.strerror or str(error)) from error

    def render(self, env_id: str, env_kwargs: Mapping[str, Any], seed: int) -> Thumbnail:
        """Wait for the frame. Raises `UserError`; may be called again while `is_usable`."""
        self._requests += 1
        deadline = self._clock() + self._timeout_s
        self._helper.drain_stderr()  # of the previous request
        self._helper.send(
            {
                "request": self._requests,
                "env_id": env_id,
                "env_kwargs": dict(env_kwargs),
                "seed": seed,
            }
        )
        try:
            received = self._helper.receive(lambda: self._clock() > deadline)
        except HelperTimeoutError:
            raise self._discard(env_id, renderer_timed_out(env_id, self._timeout_s)) from None
        except BrokenMessageError as error:
            how = f"its output cannot be decoded ({error})"
            raise self._discard(env_id, renderer_crashed(env_id, how, "")) from error
        if received is None:
            how = describe_exit(self._helper.exit_code())
            stderr_tail = self._helper.stderr_tail[-_MAX_STDERR_LENGTH:]
            raise self._discard(env_id, renderer_crashed(env_id, how, stderr_tail))
        message, pixels = received
        if isinstance(message, Failed):
            if stderr_tail := self._helper.drain_stderr():
                _log.warning(
                    "T477 %s failed while its thumbnail was rendered:\n%s", env_id, stderr_tail
                )
            raise environment_failed(message.message, message.remedy)
        if not isinstance(message, FrameMessage) or message.request != self._requests:
            how = "it sent an unexpected message"
            raise self._discard(env_id, renderer_crashed(env_id, how, ""))
        if message.problem:
            raise nothing_rendered(env_id, message.problem)
        return Thumbnail(message.width, message.height, message.channels, bytes(pixels))

    def kill(self) -> None:
        """Kill it from any thread; a thread that waits for a frame gets an error."""
        self.is_usable = False
        self._helper.kill()

    def close(self) -> None:
        """Kill it and remove its files. Not while another thread renders."""
        self.is_usable = False
        self._helper.close()
        self._scratch.cleanup()

    def _start(self, folder: Path, environment: Mapping[str, str]) -> HelperProcess:
        command = [str(self.runtime.python), "-m", "mosaic_worker.thumbnails"]
        path = os.pathsep.join(map(str, self.runtime.code))
        return HelperProcess(
            command, {**simulation_environment(environment), "PYTHONPATH": path}, folder
        )

    def _discard(self, env_id: str, error: UserError) -> UserError:
        """Kill the process and return `error`. Logged unless it was killed on purpose."""
        if self.is_usable:
            stderr_tail = self._helper.stderr_tail
            _log.warning(
                "T476 no thumbnail of %s: %s%s",
                env_id,
                error.message,
                f"\n{stderr_tail}" if stderr_tail else "",
            )
        self.kill()
        return error


def packages_missing(env_id: str, bundle: str, extras: Sequence[str]) -> UserError:
    """The bundle that plays environments is not installed, or lacks an extra."""
    options = "".join(f" --extra {extra}" for extra in extras)
    return UserError(
        f"There is no thumbnail of {env_id}: its packages are not installed.",
        remedy=f"Run `mosaic bundles install {bundle}{options}`.",
        code=PACKAGES_MISSING,
    )


def environment_failed(message: str, remedy: str) -> UserError:
    """`message` is what the environment reported when it was created or reset."""
    return UserError(message, remedy=remedy or _STILL_PLAYABLE, code=ENVIRONMENT_FAILED)


def nothing_rendered(env_id: str, problem: str) -> UserError:
    """The environment works, but renders no frame."""
    return UserError(
        f"There is no thumbnail of {env_id}: {problem}", remedy=_STILL_PLAYABLE, code="T472"
    )


def renderer_crashed(env_id: str, how: str, stderr_tail: str) -> UserError:
    last_output = f" Last output: {stderr_tail}" if stderr_tail else ""
    return UserError(
        f"{env_id} crashed while its thumbnail was rendered: {how}.{last_output}",
        remedy="The daemon's log has details. Other environments are not affected.",
        code="T473",
    )


def renderer_timed_out(env_id: str, timeout_s: float) -> UserError:
    return UserError(
        f"{env_id} was not rendered within {timeout_s:.0f} s.",
        remedy="Try again when the machine is less busy; it may also hang when it is played.",
        code="T474",
    )


def renderer_not_started(reason: str) -> UserError:
    return UserError(
        f"No thumbnail could be rendered: {reason}.",
        remedy="Free what is missing (memory, processes, disk space) and try again.",
        code="T475",
    )
