"""Where the daemon is: given outright, or looked up in a home and again when it has moved."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mosaic.client.errors import DaemonUnreachableError, TrainerError, WrongTokenError
from mosaic.client.rpc_errors import UNREACHABLE_REMEDY
from mosaic.contract.endpoint import Endpoint
from mosaic.contract.layout import Home


@dataclass(frozen=True, slots=True)
class Target:
    """All that is needed to speak to one daemon."""

    address: str
    token: str
    certificate: bytes | None = None
    """PEM; None: plain text, which is for loopback alone."""


class Whereabouts(Protocol):
    """Says where the daemon is now."""

    def look(self) -> Target:
        """Raises `DaemonUnreachableError` when there is no daemon."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class GivenAddress:
    """The daemon is where the caller said."""

    target: Target

    def look(self) -> Target:
        return self.target

    def __str__(self) -> str:
        return self.target.address


class HomeAddress:
    """The daemon of a home, which may come back at another port. Files are read when changed."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._seen: tuple[object, ...] = ()
        self._target: Target | None = None

    def look(self) -> Target:
        seen = (_stamp(self.home.endpoint), _stamp(self.home.token))
        if self._target is None or seen != self._seen:
            self._target = self._read()
            self._seen = seen
        return self._target

    def _read(self) -> Target:
        # A file where a folder should be is no daemon either.
        endpoint = Endpoint.read(self.home.endpoint) if self.home.trainer.is_dir() else None
        if endpoint is None:
            raise DaemonUnreachableError(
                f"No trainer daemon runs for the home {self.home.path}.", remedy=UNREACHABLE_REMEDY
            )
        certificate = endpoint.certificate
        return Target(
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
        raise WrongTokenError(
            f"The token {path} cannot be read: {error.strerror}.",
            remedy="Only the user who runs the daemon may use it. Use a home of your own.",
        ) from error


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def check_safe(target: Target) -> None:
    """Refuses to send the token in plain text to another machine."""
    if target.certificate is None and not _is_loopback(target.address):
        raise TrainerError(
            f"{target.address} is another machine, and no certificate was given.",
            remedy="Give the daemon's certificate (PEM), so that the token is not sent openly.",
        )


def _is_loopback(address: str) -> bool:
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
