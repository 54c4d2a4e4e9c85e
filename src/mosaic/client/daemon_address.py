"""Address, token and certificate of the daemon: fixed, or read from the files of a home."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mosaic.client.errors import DaemonUnreachableError, InvalidTokenError, TrainerError
from mosaic.client.rpc_errors import UNREACHABLE_REMEDY
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.layout import Home


@dataclass(frozen=True, slots=True)
class ConnectionTarget:
    """What is needed to connect to one daemon."""

    address: str
    token: str
    certificate: bytes | None = None
    """PEM; None: no TLS, which is allowed on loopback only."""


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
    """The address of a home's daemon, which may restart at another port.

    The files are read again only when they have changed.
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
        return self._target

    def _read(self) -> ConnectionTarget:
        # A file in place of the folder means that no daemon runs.
        endpoint = Endpoint.read(self.home.endpoint) if self.home.trainer.is_dir() else None
        if endpoint is None:
            raise DaemonUnreachableError(
                f"No trainer daemon is running for the home {self.home.path}.",
                remedy=UNREACHABLE_REMEDY,
            )
        certificate = endpoint.certificate
        return ConnectionTarget(
            endpoint.address,
            _read_token(self.home.token),
            (self.home.path / certificate).read_bytes() if certificate else None,
        )

    def __str__(self) -> str:
        address = self._target.address if self._target else "an unknown address"
        return f"{address} (home {self.home.path})"


def _read_token(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
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
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
