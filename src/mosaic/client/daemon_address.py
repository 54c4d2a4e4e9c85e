"""Address, token and certificate of the daemon: fixed, or read from the files of a home."""

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mosaic.client.daemon_identity import DaemonIdentity
from mosaic.client.errors import DaemonUnreachableError, InvalidTokenError, TrainerError
from mosaic.client.rpc_errors import UNREACHABLE_REMEDY
from mosaic.contract.endpoint import SOCKET_SCHEME, Endpoint
from mosaic.contract.layout import Home


@dataclass(frozen=True, slots=True)
class ConnectionTarget:
    """What is needed to connect to one daemon."""

    address: str
    """Of a Unix domain socket: `unix:` and an absolute path."""
    token: str
    certificate: bytes | None = None
    """PEM; None: no TLS, which is allowed on this machine only."""
    identity: DaemonIdentity | None = None
    """The process that must listen at the address; None with TLS, or if it is not known."""


class AddressResolver(Protocol):
    """Returns the current target of the daemon."""

    def resolve(self) -> ConnectionTarget:
        """Return the target; raise `DaemonUnreachableError` if no daemon runs."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class FixedAddress:
    """An address that the caller passed."""

    target: ConnectionTarget

    def resolve(self) -> ConnectionTarget:
        return self.target

    def __str__(self) -> str:
        return self.target.address


class HomeAddress:
    """The address of a home's daemon, which may restart at another address.

    The files are read again only when they have changed. The process is checked on every call,
    because another user can listen on the port of a daemon that has ended.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self._read_stamps: tuple[object, ...] = ()
        self._target: ConnectionTarget | None = None

    def resolve(self) -> ConnectionTarget:
        stamps = (_file_stamp(self.home.endpoint), _file_stamp(self.home.token))
        if self._target is None or stamps != self._read_stamps:
            self._target = self._read()
            self._read_stamps = stamps
        identity = self._target.identity
        if identity is not None and not identity.is_running():
            raise self._not_running()
        return self._target

    def _read(self) -> ConnectionTarget:
        # A file in place of the folder means that no daemon runs.
        endpoint = Endpoint.read(self.home.endpoint) if self.home.trainer.is_dir() else None
        if endpoint is None:
            raise self._not_running()
        token, owner = _read_token(self.home.token)
        if endpoint.certificate:
            # The certificate proves who answers, also on another machine.
            certificate = (self.home.path / endpoint.certificate).read_bytes()
            return ConnectionTarget(endpoint.address, token, certificate)
        address = endpoint.address
        if address.startswith(SOCKET_SCHEME):
            address = f"{SOCKET_SCHEME}{self.home.path / address.removeprefix(SOCKET_SCHEME)}"
        identity = DaemonIdentity.of(endpoint, owner)
        if not identity.is_daemon():
            raise self._not_running()
        return ConnectionTarget(address, token, identity=identity)

    def _not_running(self) -> DaemonUnreachableError:
        return DaemonUnreachableError(
            f"No trainer daemon is running for the home {self.home.path}.",
            remedy=UNREACHABLE_REMEDY,
        )

    def __str__(self) -> str:
        address = self._target.address if self._target else "an unknown address"
        return f"{address} (home {self.home.path})"


def _read_token(path: Path) -> tuple[str, int]:
    """The token, and the user who owns the file."""
    try:
        with path.open("rb") as file:
            owner = os.fstat(file.fileno()).st_uid
            return file.read().decode("ascii", "replace").strip(), owner
    except OSError as error:
        raise InvalidTokenError(
            f"The token {path} cannot be read: {error.strerror}.",
            remedy="Only the user who runs the daemon can read it. Use your own home (--home DIR).",
        ) from error


def _file_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def check_transport_security(target: ConnectionTarget) -> None:
    """Raise `TrainerError` if the token would be sent to another machine without TLS."""
    if target.certificate is None and not _is_loopback(target.address):
        raise TrainerError(
            f"{target.address} is on another machine, and no certificate was given.",
            remedy="Pass the daemon's certificate (PEM); without TLS the token would be readable.",
        )


def _is_loopback(address: str) -> bool:
    if address.startswith(SOCKET_SCHEME):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
