"""The daemon's address: loopback, or any with TLS; the default port, or a free one."""

import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import grpc

from mosaic.contract.errors import UserError
from mosaic.trainer.settings import DEFAULT_PORT, DaemonSettings

_LOCALHOST = "127.0.0.1"
_ALL_INTERFACES = ("0.0.0.0", "::")  # noqa: S104 - recognised, and only with TLS


class Bindable(Protocol):
    """The part of the server that is needed here."""

    def bind(self, address: str, credentials: grpc.ServerCredentials | None) -> int: ...


@dataclass(frozen=True, slots=True)
class BoundAddress:
    """The bound address."""

    address: str
    certificate: str | None
    """PEM file that clients must trust; None: plain text on loopback."""


def listen(server: Bindable, settings: DaemonSettings) -> BoundAddress:
    """Bind the address in the settings. Raises `UserError`."""
    host = _LOCALHOST if settings.host == "localhost" else settings.host.strip("[]")
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
    return BoundAddress(
        _join(reachable, port), str(Path(certificate).absolute()) if certificate else None
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
