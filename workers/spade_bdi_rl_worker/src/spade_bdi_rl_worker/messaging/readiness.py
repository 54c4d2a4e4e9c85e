"""Whether an XMPP server answers, asked before any agent is started. Standard library only.

An agent that is told to connect to nothing waits for ever; this says within seconds what is wrong
and what to do about it. Also for `--dry-run`.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from spade_bdi_rl_worker.messaging.address import Address

_LIMIT_S = 3.0
_ENOUGH_BYTES = 16384
_GREETING = (
    "<?xml version='1.0'?><stream:stream to='{domain}' version='1.0' xmlns='jabber:client'"
    " xmlns:stream='http://etherx.jabber.org/streams'>"
)


def require_server(address: Address, limit_s: float = _LIMIT_S) -> None:
    """Raises `WorkerError` unless an XMPP server answers at an external address."""
    if address.kind != "external":
        return
    try:
        with socket.create_connection((address.host, address.port), limit_s) as link:
            answer = _greet(link, address.domain, time.monotonic() + limit_s)
    except (OSError, UnicodeError) as error:
        raise WorkerError(
            f"The XMPP server {address} cannot be reached: {_reason(error)}.",
            remedy="Start it or correct `xmpp`; `embedded` starts one for this run, and nothing"
            " at all is needed for agents of one run (leave `xmpp` empty).",
        ) from None
    if b"<stream:stream" not in answer:
        raise WorkerError(
            f"What listens at {address} is no XMPP server: it does not answer a greeting.",
            remedy="Give the port for clients, which is 5222 unless it was changed.",
        )
    if b"host-unknown" in answer:
        raise WorkerError(
            f"The XMPP server {address} does not serve the domain {address.domain}.",
            remedy="Name the domain that it serves: `domain@host:port`.",
        )


def _greet(link: socket.socket, domain: str, until_s: float) -> bytes:
    """What it says to a client that opens a stream, up to what it offers."""
    link.sendall(_GREETING.format(domain=domain).encode())
    answer = b""
    while len(answer) < _ENOUGH_BYTES and not _is_complete(answer):
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            break
        link.settimeout(left_s)
        try:
            data = link.recv(4096)
        except socket.timeout:  # noqa: UP041 - it is another class before Python 3.10
            break
        if not data:
            break
        answer += data
    return answer


def _is_complete(answer: bytes) -> bool:
    return b"</stream:features>" in answer or b"</stream:error>" in answer


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
