"""EmbeddedServer: an XMPP server in the worker's process, on loopback, for the agents of one run.

pyjabber's own start-up also listens on the primary interface and on port 9090, connects to other
servers, writes keys next to its code, replaces signal handlers, and forks children that survive a
kill. This class uses its components without those: one listening socket on a free port of
127.0.0.1, an in-memory database, a certificate that is deleted after loading, and threads.
No file or process is left when the worker exits.
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
from spade_bdi_rl_worker.messaging.pyjabber_components import PyjabberComponents, load_components

_HOST = "127.0.0.1"
_DOMAIN = "localhost"
_START_TIMEOUT_S = 20.0
_STOP_TIMEOUT_S = 3.0
_IDLE_TIMEOUT_S = 10**7
"""pyjabber drops idle clients after this time: effectively never."""
_PLUGINS = ("http://jabber.org/protocol/disco#info", "urn:xmpp:ping")


class ServerEndpoint(NamedTuple):
    """The address for clients, and the domain of their accounts."""

    host: str
    port: int
    domain: str


class EmbeddedServer:
    """At most one per process: pyjabber keeps its state in its modules."""

    def __init__(self) -> None:
        self._listener: asyncio.AbstractServer | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="mosaic-xmpp")
        self._components: PyjabberComponents | None = None
        self._close_task: asyncio.Future[None] | None = None

    async def start(self) -> ServerEndpoint:
        """Start the server. Raises `WorkerError` if it cannot be started."""
        try:
            return await asyncio.wait_for(self._start(), _START_TIMEOUT_S)
        except (OSError, ImportError, asyncio.TimeoutError) as error:
            raise WorkerError(
                f"The embedded XMPP server cannot be started: {error or 'it took too long'}.",
                remedy="Reinstall the bundle, or leave `xmpp` empty: one run needs no server.",
            ) from error

    async def _start(self) -> ServerEndpoint:
        logger.remove()  # pyjabber logs every stanza
        logging.getLogger("slixmpp").setLevel(logging.ERROR)
        components = self._components = load_components()
        components.configure(_DOMAIN, _HOST, self_signed_context(_DOMAIN), self._threads, _PLUGINS,
                        _IDLE_TIMEOUT_S)  # fmt: skip
        await components.open_database()
        # A client that disconnects during a query leaves an unreturned database connection.
        logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
        self._tasks = [asyncio.ensure_future(components.deliver_pending())]
        listener = socket.create_server((_HOST, 0))
        self._listener = await asyncio.get_running_loop().create_server(
            lambda: components.client_protocol(_IDLE_TIMEOUT_S), sock=listener
        )
        return ServerEndpoint(_HOST, listener.getsockname()[1], _DOMAIN)

    async def add_account(self, user: str, password: str) -> None:
        """Add an account. Clients cannot register accounts."""
        if self._components is None:
            raise RuntimeError("the server is not started")
        await self._components.add_account(user, password)

    async def stop(self) -> None:
        """Close every connection and the socket. Never raises."""
        if self._listener is not None:
            self._listener.close()
        for task in self._tasks:
            task.cancel()
        if self._components is not None:
            self._close_task = self._close_task or asyncio.ensure_future(self._components.close())
            await asyncio.wait([self._close_task], timeout=_STOP_TIMEOUT_S)
        self._threads.shutdown(wait=False)


def self_signed_context(domain: str) -> ssl.SSLContext:
    """Return a TLS context for loopback. The key is on disk only while OpenSSL reads it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory(prefix="mosaic-xmpp-") as folder:
        pem = Path(folder, "server.pem")
        pem.write_bytes(self_signed_pem(domain))
        context.load_cert_chain(pem)
    return context


def self_signed_pem(domain: str) -> bytes:
    """Return a private key and its certificate."""
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
