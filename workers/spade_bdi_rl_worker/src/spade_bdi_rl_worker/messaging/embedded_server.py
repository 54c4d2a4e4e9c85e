"""An XMPP server inside the worker's process, on loopback, for the agents of one run.

pyjabber's own start also listens on the primary interface and on port 9090, connects to other
servers, writes keys beside its code, replaces signal handlers, and forks children that outlive a
kill. So its parts are put together here without those: one listening socket on a free port of
127.0.0.1, a database in memory, a certificate that is forgotten on disk at once, and threads.
When the process is gone, so is everything.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import socket
import ssl
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from loguru import logger

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.messaging.pyjabber_parts import PyjabberParts, load_parts

_HOST = "127.0.0.1"
_DOMAIN = "localhost"
_START_SECONDS = 20.0
_STOP_SECONDS = 3.0
_SILENCE_SECONDS = 10**7
"""After which pyjabber drops a client that says nothing: never, in a run."""
_PLUGINS = ("http://jabber.org/protocol/disco#info", "urn:xmpp:ping")


class Listening(NamedTuple):
    """Where clients find it, and the domain of their accounts."""

    host: str
    port: int
    domain: str


class EmbeddedServer:
    """At most one per process: pyjabber keeps its state in its modules."""

    def __init__(self) -> None:
        self._listener: asyncio.AbstractServer | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="mosaic-xmpp")
        self._parts: PyjabberParts | None = None
        self._closing: asyncio.Future[None] | None = None

    async def start(self) -> Listening:
        """Raises `WorkerError` when it cannot be started."""
        try:
            return await asyncio.wait_for(self._start(), _START_SECONDS)
        except (OSError, ImportError, asyncio.TimeoutError) as error:
            raise WorkerError(
                f"The embedded XMPP server cannot be started: {error or 'it took too long'}.",
                remedy="Repair the bundle. Agents of one run need no server: leave `xmpp` empty.",
            ) from error

    async def _start(self) -> Listening:
        logger.remove()  # pyjabber writes down every stanza
        logging.getLogger("slixmpp").setLevel(logging.ERROR)
        parts = self._parts = load_parts()
        parts.configure(_DOMAIN, _HOST, self_signed_context(_DOMAIN), self._threads, _PLUGINS,
                        _SILENCE_SECONDS)  # fmt: skip
        await parts.open_database()
        # A client that leaves in the middle of a question takes the database's answer with it.
        logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
        self._tasks = [asyncio.ensure_future(parts.deliver_pending())]
        listening = socket.create_server((_HOST, 0))
        self._listener = await asyncio.get_running_loop().create_server(
            lambda: parts.client_protocol(_SILENCE_SECONDS), sock=listening
        )
        return Listening(_HOST, listening.getsockname()[1], _DOMAIN)

    async def add_account(self, user: str, password: str) -> None:
        """Only accounts that are added here can be used: nobody can register."""
        if self._parts is None:
            raise RuntimeError("the server is not started")
        await self._parts.add_account(user, password)

    async def stop(self) -> None:
        """Close every connection and the socket. Never raises."""
        if self._listener is not None:
            self._listener.close()
        for task in self._tasks:
            task.cancel()
        if self._parts is not None:
            self._closing = self._closing or asyncio.ensure_future(self._parts.close())
            await asyncio.wait([self._closing], timeout=_STOP_SECONDS)
        self._threads.shutdown(wait=False)


def self_signed_context(domain: str) -> ssl.SSLContext:
    """For TLS on loopback. Its key is on disk only while OpenSSL reads it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory(prefix="mosaic-xmpp-") as folder:
        pem = Path(folder, "server.pem")
        pem.write_bytes(self_signed_pem(domain))
        context.load_cert_chain(pem)
    return context


def self_signed_pem(domain: str) -> bytes:
    """A key and its certificate."""
    from cryptography import x509  # noqa: PLC0415 - only here
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, domain)])
    now = dt.datetime.now(dt.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=365))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(domain)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return secret + certificate.public_bytes(serialization.Encoding.PEM)
