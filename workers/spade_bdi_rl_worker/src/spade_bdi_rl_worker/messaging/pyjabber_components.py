"""The components of pyjabber 0.4.5 that serve clients, without those that the worker never uses."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
import secrets
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.messaging.stub_imports import stub_modules

if TYPE_CHECKING:
    import ssl
    from concurrent.futures import ThreadPoolExecutor

_STUBS: dict[str, dict[str, Any]] = {
    # Its start-up, its web server, and migrations of an on-disk database: most of the import time.
    "pyjabber.server": {"Server": None},
    "pyjabber.plugins.xep_0363.upload_server": {"UploadHttpServer": None},
    "alembic": {"command": None},
    "alembic.config": {"Config": None},
}
_NO_REGISTRATION = (
    b"<stream:error><policy-violation xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
    b"</stream:stream>"
)
_MAX_BYTES_BEFORE_LOGIN = 64 << 10
"""A login takes less than 4 KiB. pyjabber buffers an element until it is complete."""
_MAX_WAITING_CLIENTS = 64
"""Clients that have not logged in; any local process can connect."""
_ITEMS = {"upload.$": {"name": "", "extra": {"max-size": 0}}}
"""pyjabber reads this for every client, even without uploads."""


class PyjabberComponents:
    """Accounts, presence and message delivery of one server."""

    def __init__(self) -> None:
        self._config: Any = importlib.import_module("pyjabber.AppConfig")
        self._database = importlib.import_module("pyjabber.db.database").DB
        self._presence = importlib.import_module("pyjabber.features.presence.PresenceFeature")
        protocol = importlib.import_module("pyjabber.network.protocols.XMLProtocol").XMLProtocol
        self._protocol = _limited_before_login(protocol)
        self._queues = importlib.import_module("pyjabber.queues.QueueManager")
        self._worker = importlib.import_module("pyjabber.queues.workers.MessageQueueWorker")
        self._model = importlib.import_module("pyjabber.db.model").Model
        self._sasl = importlib.import_module("pyjabber.features.SASL.SASL").SASL
        self._uploads = importlib.import_module("pyjabber.plugins.xep_0363.xep_0363")
        self._clients: list[Any] = []

    def configure(
        self,
        domain: str,
        host: str,
        context: ssl.SSLContext,
        threads: ThreadPoolExecutor,
        plugins: tuple[str, ...],
        idle_timeout_s: int,
    ) -> None:
        folder = os.path.dirname(str(self._config.__file__))  # noqa: PTH120 - pyjabber needs a str
        self._config.app_config = self._config.AppConfig(
            host=domain,
            ip=[host],
            ssl_context=context,
            ssl_context_s2s=context,
            connection_timeout=idle_timeout_s,
            server_port=0,
            family=None,
            config_path=os.path.join(folder, "config", "config.yaml"),  # noqa: PTH118
            cert_path="",
            root_path=folder,
            database_path="",
            database_in_memory=True,
            database_purge=False,
            database_debug=False,
            message_persistence=False,
            semaphore=asyncio.Semaphore(1),
            process_pool_exe=threads,
            verbose=False,
            plugins=list(plugins),
            items=_ITEMS,
        )
        self._uploads.HTTPFieldUpload(None)  # otherwise the first client starts a web server
        self._sasl.handle_iq = _reject_registration

    async def open_database(self) -> None:
        self._queues.QueueManager._queues.clear()  # noqa: SLF001 - may belong to another event loop
        await self._database.setup_database()
        await self._presence.Presence().get_all_pending_presence()

    async def add_account(self, user: str, password: str) -> None:
        """Add an account. One hash round is enough: passwords are random and short-lived."""
        salt = secrets.token_bytes(16)
        digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1).hex()
        row = {"jid": user, "hash_pwd": f"sha256$1${salt.hex()}${digest}"}
        async with await self._database.connection_async() as connection, connection.begin():
            await connection.execute(self._model.Credentials.insert().values(row))

    async def deliver_pending(self) -> None:
        """Deliver messages until cancelled."""
        await self._worker.queue_worker()

    def client_protocol(self, idle_timeout_s: int) -> Any:
        self._clients = [client for client in self._clients if client.is_open]
        protocol = self._protocol("jabber:client", idle_timeout_s)
        waiting = sum(not client.is_logged_in() for client in self._clients)
        protocol.is_rejected = waiting >= _MAX_WAITING_CLIENTS
        self._clients.append(protocol)
        return protocol

    async def close(self) -> None:
        for client in self._clients:
            if client.transport is not None:
                client.transport.abort()
        await self._database.close_engine_async()


def _limited_before_login(base: Any) -> Any:
    """Return a subclass of the protocol that limits the data a client can send before login."""

    class LimitedProtocol(base):  # type: ignore[misc]
        is_open = True
        is_rejected = False
        _received = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if self.is_rejected:
                transport.abort()

        def connection_lost(self, error: Any) -> None:
            self.is_open = False
            super().connection_lost(error)

        def data_received(self, data: bytes) -> None:
            self._received += len(data)
            if self._received > _MAX_BYTES_BEFORE_LOGIN and not self.is_logged_in():
                if self._transport is not None:
                    self._transport.abort()
                return
            super().data_received(data)

        def is_logged_in(self) -> bool:
            jid = self._connection_manager.get_jid(self._peer)
            return bool(jid and jid.user)

    return LimitedProtocol


async def _reject_registration(sasl: Any, element: Any) -> None:  # noqa: ARG001
    """Close the stream, because any local process could register an account and send messages."""
    sasl._transport.write(_NO_REGISTRATION)  # noqa: SLF001 - like the method that it replaces
    sasl._transport.close()  # noqa: SLF001


def load_components() -> PyjabberComponents:
    """Import the components. Takes half a second."""
    with stub_modules(_STUBS):
        return PyjabberComponents()
