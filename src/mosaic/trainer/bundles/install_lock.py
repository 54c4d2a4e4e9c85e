"""One installation of a bundle at a time, across threads and processes.

The lock file also has the progress and the processes of the installation. Programs that the
installer starts hold the lock too: if the installer is killed, no other installation starts while
they run. A process that waits then kills what the dead installer left running.
"""

import fcntl
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.process_identity import ProcessIdentity
from mosaic.contract.readiness import InstallProgress
from mosaic.trainer.bundles.errors import installation_cancelled

_POLL_S = 0.1
OnProgress = Callable[[InstallProgress], None]


class _LockContent(msgspec.Struct, kw_only=True):
    """The content of the file."""

    installer: ProcessIdentity | None = None
    program: ProcessIdentity | None = None
    progress: InstallProgress | None = None


class HeldLock:
    """The lock, while this process holds it."""

    def __init__(self, descriptor: int, had_to_wait: bool) -> None:
        self.descriptor = descriptor
        self.had_to_wait = had_to_wait
        self._content = _LockContent(installer=ProcessIdentity.of(os.getpid()))
        self._write()

    def started(self, pid: int) -> None:
        """Record the program that the installation has started."""
        self._content.program = ProcessIdentity.of(pid)
        self._write()

    def report(self, progress: InstallProgress) -> None:
        self._content.progress = progress
        self._write()

    def _write(self) -> None:
        data = msgspec.json.encode(self._content)
        os.pwrite(self.descriptor, data, 0)
        os.ftruncate(self.descriptor, len(data))


@contextmanager
def hold_lock(
    path: Path, on_progress: OnProgress, cancelled: threading.Event
) -> Iterator[HeldLock]:
    """Wait for the lock, and report progress while waiting. Raises `UserError` when cancelled."""
    attempts = 0
    reported = None
    while (descriptor := _try(path)) is None:
        attempts += 1
        content = _read(path)
        _kill_orphan(content)
        waiting = _waiting_progress(content.progress)
        if (
            attempts > 1 and waiting != reported
        ):  # the first attempt may have met a check of `is_held`
            reported = waiting
            on_progress(waiting)
        if cancelled.wait(_POLL_S):
            raise installation_cancelled()
    try:
        yield HeldLock(descriptor, had_to_wait=attempts > 1)
    finally:
        _release(descriptor)


@contextmanager
def hold_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock unless another process does; yields whether it is held."""
    descriptor = _try(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            _release(descriptor)


def is_held(path: Path) -> bool:
    """Whether an installation is running."""
    if not path.exists():
        return False
    with hold_if_free(path) as held:
        return not held


def _try(path: Path) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_file(descriptor, path):
                return descriptor
            os.close(descriptor)  # it was removed while we opened it
        except BlockingIOError:
            os.close(descriptor)
            return None


def _is_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _release(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for programs that inherited it
    os.close(descriptor)


def _read(path: Path) -> _LockContent:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_LockContent)
    except (OSError, msgspec.DecodeError):
        return _LockContent()  # it is being written


def _kill_orphan(content: _LockContent) -> None:
    if content.installer and content.program and not content.installer.is_alive():
        content.program.send_to_group(signal.SIGKILL)


def _waiting_progress(others: InstallProgress | None) -> InstallProgress:
    message = "Another run is installing it"
    if others is None:
        return InstallProgress(phase="waiting", message=f"{message}.")
    return InstallProgress(
        phase="waiting",
        message=f"{message}: {others.message}",
        done=others.done,
        total=others.total,
    )


prebuild_decoders(_LockContent)
