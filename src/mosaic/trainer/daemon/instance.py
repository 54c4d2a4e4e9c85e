"""One daemon per home: a lock that the kernel lets go of when the process ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mosaic.contract.endpoint import Endpoint
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home


class AnotherDaemonError(UserError):
    """A daemon of this home runs already."""

    def __init__(self, home: Home, pid: str, address: str) -> None:
        where = f" at {address}" if address else ""
        super().__init__(
            f"A trainer daemon (process {pid or 'unknown'}) serves the home {home.path}{where}.",
            remedy="Use that one, stop it with `mosaic daemon stop`, or choose another --home.",
            code="T382",
        )


@contextmanager
def only_instance(home: Home) -> Iterator[None]:
    """Holds the lock of the home. Raises `AnotherDaemonError` when another process does."""
    descriptor = _open(home.daemon_lock)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AnotherDaemonError(home, _pid_in(descriptor), _address(home)) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UserError(
            f"{path} cannot be opened: {error.strerror}.",
            remedy="Make the home writable for this user, or choose another one with --home.",
            code="T383",
        ) from error


def _pid_in(descriptor: int) -> str:
    text = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    return text if text.isdigit() else ""


def _address(home: Home) -> str:
    try:
        endpoint = Endpoint.read(home.endpoint)
    except UserError:
        return ""
    return endpoint.address if endpoint else ""
