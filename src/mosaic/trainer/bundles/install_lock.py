"""One installation of a bundle at a time, across threads and processes.

The lock's file also tells the others how far it is, and who works on it. Programs that the
installer starts hold the lock too: were the installer killed, nobody starts over beneath them.
Whoever waits then ends what the dead installer left running.
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
from mosaic.contract.readiness import InstallProgress
from mosaic.trainer.bundles.installation_errors import InstallCancelledError
from mosaic.trainer.processes.process_identity import ProcessIdentity

_LOOK_EVERY_S = 0.1
OnProgress = Callable[[InstallProgress], None]


class _Note(msgspec.Struct, kw_only=True):
    """What stands in the file."""

    installer: ProcessIdentity | None = None
    program: ProcessIdentity | None = None
    progress: InstallProgress | None = None


class HeldLock:
    """The lock, while it is ours."""

    def __init__(self, descriptor: int, had_to_wait: bool) -> None:
        self.descriptor = descriptor
        self.had_to_wait = had_to_wait
        self._note = _Note(installer=ProcessIdentity.of(os.getpid()))
        self._write()

    def started(self, pid: int) -> None:
        """A program works for the installation now."""
        self._note.program = ProcessIdentity.of(pid)
        self._write()

    def report(self, progress: InstallProgress) -> None:
        self._note.progress = progress
        self._write()

    def _write(self) -> None:
        data = msgspec.json.encode(self._note)
        os.pwrite(self.descriptor, data, 0)
        os.ftruncate(self.descriptor, len(data))


@contextmanager
def hold_lock(
    path: Path, on_progress: OnProgress, cancelled: threading.Event
) -> Iterator[HeldLock]:
    """Waits for the lock, telling so. Raises `InstallCancelledError`."""
    looks = 0
    reported = None
    while (descriptor := _try(path)) is None:
        looks += 1
        note = _read(path)
        _end_orphan(note)
        waiting = _waiting(note.progress)
        if looks > 1 and waiting != reported:  # the first may have met somebody who only looked
            reported = waiting
            on_progress(waiting)
        if cancelled.wait(_LOOK_EVERY_S):
            raise InstallCancelledError
    try:
        yield HeldLock(descriptor, had_to_wait=looks > 1)
    finally:
        _release(descriptor)


@contextmanager
def hold_if_free(path: Path) -> Iterator[bool]:
    """Holds the lock unless somebody else does; says which."""
    descriptor = _try(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            _release(descriptor)


def is_held(path: Path) -> bool:
    """Whether an installation is going on."""
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


def _read(path: Path) -> _Note:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Note)
    except (OSError, msgspec.DecodeError):
        return _Note()  # it is being written


def _end_orphan(note: _Note) -> None:
    if note.installer and note.program and not note.installer.is_alive():
        note.program.send_to_group(signal.SIGKILL)


def _waiting(others: InstallProgress | None) -> InstallProgress:
    message = "Another run installs it already"
    if others is None:
        return InstallProgress(phase="waiting", message=f"{message}.")
    return InstallProgress(
        phase="waiting",
        message=f"{message}: {others.message}",
        done=others.done,
        total=others.total,
    )


prebuild_decoders(_Note)
