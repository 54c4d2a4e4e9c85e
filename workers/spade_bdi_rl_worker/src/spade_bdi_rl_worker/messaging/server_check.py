"""Checks that an XMPP server answers, before any agent starts. Standard library only.

SPADE agents wait forever for a server that does not exist; this fails within seconds, with a
remedy. Also used by `--dry-run`.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from spade_bdi_rl_worker.messaging.address import Address

_TIMEOUT_S = 3.0
_MAX_ANSWER_BYTES = 16384
_STREAM_HEADER = (
    "<?xml version='1.0'?><stream:stream to='{domain}' version='1.0' xmlns='jabber:client'"
    " xmlns:stream='http://etherx.jabber.org/streams'>"
)


def require_server(address: Address, timeout_s: float = _TIMEOUT_S) -> None:
    """Raise `WorkerError` unless an XMPP server answers at an external address."""
    if address.kind != "external":
        return
    try:
        with socket.create_connection((address.host, address.port), timeout_s) as connection:
            answer = _open_stream(connection, address.domain, time.monotonic() + timeout_s)
    except (OSError, UnicodeError) as error:
        raise WorkerError(
            f"The XMPP server {address} cannot be reached: {_reason(error)}.",
            remedy="Start it or correct `xmpp`. `embedded` starts a server for this run; agents of"
            " one run need no server (leave `xmpp` empty).",
        ) from None
    if b"<stream:stream" not in answer:
        raise WorkerError(
            f"The service at {address} is not an XMPP server: it does not open an XMPP stream.",
            remedy="Use the port for clients. Default: 5222.",
        )
    if b"host-unknown" in answer:
        raise WorkerError(
            f"The XMPP server {address} does not serve the domain {address.domain}.",
            remedy="Add the domain that it serves: `domain@host:port`.",
        )


def _open_stream(connection: socket.socket, domain: str, deadline_s: float) -> bytes:
    """Open an XMPP stream; return the answer up to the stream features."""
    connection.sendall(_STREAM_HEADER.format(domain=domain).encode())
    answer = b""
    while len(answer) < _MAX_ANSWER_BYTES and not _is_complete(answer):
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            break
        connection.settimeout(left_s)
        try:
            data = connection.recv(4096)
        except socket.timeout:  # noqa: UP041 - a different class before Python 3.10
            break
        if not data:
            break
        answer += data
    return answer


def _is_complete(answer: bytes) -> bool:
    return b"</stream:features>" in answer or b"</stream:error>" in answer


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
