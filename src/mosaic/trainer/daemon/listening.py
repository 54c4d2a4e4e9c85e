"""The daemon's address: a Unix domain socket, or TCP when it was requested.

TCP is loopback, or any address with TLS; the default port, or a free one.
"""

import ipaddress
import logging
import os
import secrets
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import grpc

from mosaic.contract.endpoint import SOCKET_SCHEME, SocketFolder
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.daemon_settings import DEFAULT_PORT, DaemonSettings

_log = logging.getLogger(__name__)

_LOCALHOST = "127.0.0.1"
_ALL_INTERFACES = ("0.0.0.0", "::")  # noqa: S104 - recognised, and only with TLS
_OTHERS_MASK = 0o077


class Bindable(Protocol):
    """The part of the server that is needed here."""

    def bind(self, address: str, credentials: grpc.ServerCredentials | None) -> int: ...


@dataclass(frozen=True, slots=True)
class BoundAddress:
    """The bound address."""

    address: str
    """For users: a socket's path is absolute."""
    recorded_address: str
    """For `endpoint.json`: a socket's path is relative to the home."""
    certificate: str | None = None
    """PEM file that clients must trust; None: no TLS."""
    folder: SocketFolder | None = None
    """The folder of the socket, which must stay open while the server listens."""

    def close(self) -> None:
        """Call it after the server has stopped."""
        if self.folder is not None:
            self.folder.close()


def listen(server: Bindable, settings: DaemonSettings, home: Home) -> BoundAddress:
    """Bind the address in the settings. Raises `UserError`.

    The caller holds the lock of the home.
    """
    _remove_stale_sockets(home)
    return (
        _listen_on_tcp(server, settings) if settings.uses_tcp else _listen_on_socket(server, home)
    )


def _listen_on_socket(server: Bindable, home: Home) -> BoundAddress:
    """Bind a socket in the home, in a folder that only its owner can enter."""
    path = home.socket(secrets.token_hex(4))
    try:
        _make_private(path.parent)
        folder = SocketFolder(path.parent)
    except OSError as error:
        raise _cannot_bind_socket(path, error.strerror or str(error)) from error
    try:
        server.bind(folder.grpc_address(path.name), None)
    except RuntimeError as error:
        folder.close()
        raise _cannot_bind_socket(path, "sockets cannot be created in that folder") from error
    shown_path = os.fsencode(path).decode(errors="replace")
    return BoundAddress(
        address=SOCKET_SCHEME + shown_path,
        recorded_address=SOCKET_SCHEME + home.relative(path),
        folder=folder,
    )


def _make_private(folder: Path) -> None:
    """Clients do not trust a socket in a folder that other users can write to."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & _OTHERS_MASK:
        _log.warning("T480 other users had access to %s; it is private now", folder)
        folder.chmod(mode & ~_OTHERS_MASK)


def _remove_stale_sockets(home: Home) -> None:
    """Remove what killed daemons left. No other daemon of this home is running."""
    for path in home.sockets():
        path.unlink(missing_ok=True)


def _cannot_bind_socket(path: Path, reason: str) -> UserError:
    return UserError(
        f"The socket {path} cannot be created: {reason}.",
        remedy="Use a home on another disk, or listen on TCP with --port 0.",
        code="T481",
    )


def _listen_on_tcp(server: Bindable, settings: DaemonSettings) -> BoundAddress:
    given = settings.host or _LOCALHOST
    host = _LOCALHOST if given == "localhost" else given.strip("[]")
    credentials = _credentials(settings)
    if credentials is None and not is_loopback(host):
        raise UserError(
            f"The daemon does not listen on {host} without TLS: the token could be intercepted.",
            remedy="Set --tls-certificate and --tls-key, or omit --host.",
            code="T389",
        )
    port = _bind(server, host, settings.port, credentials)
    reachable = "localhost" if host in _ALL_INTERFACES else host
    certificate = settings.tls_certificate if credentials else None
    address = _join(reachable, port)
    return BoundAddress(
        address=address,
        recorded_address=address,
        certificate=str(Path(certificate).absolute()) if certificate else None,
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it. Any name but `localhost` may be remote."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bind(
    server: Bindable, host: str, port: int | None, credentials: grpc.ServerCredentials | None
) -> int:
    choices = (DEFAULT_PORT, 0) if port is None else (port,)
    for choice in choices:
        try:
            bound = server.bind(_join(host, choice), credentials)
        except RuntimeError:
            bound = 0
        if bound:
            return bound
    what = f"Port {port} of {host}" if port else f"An address on {host}"
    raise UserError(
        f"{what} cannot be bound: it is in use, or not an address of this machine.",
        remedy="Choose another one with --port (0: any free port), or omit it.",
        code="T390",
    )


def _credentials(settings: DaemonSettings) -> grpc.ServerCredentials | None:
    certificate, key = settings.tls_certificate, settings.tls_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise UserError(
            "TLS needs a certificate and its key; only one of them was given.",
            remedy="Set both --tls-certificate and --tls-key to PEM files.",
            code="T391",
        )
    try:
        # gRPC accepts any bytes here, and each connection would fail later without an error.
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            certificate, key, password=lambda: b""
        )
        pair = Path(key).read_bytes(), Path(certificate).read_bytes()
    except (OSError, ValueError) as error:
        raise UserError(
            f"The TLS certificate {certificate} with the key {key} cannot be used: {error}.",
            remedy="Use the PEM files of a certificate chain and of its unencrypted key.",
            code="T392",
        ) from error
    return grpc.ssl_server_credentials([pair])


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
