"""XmppTransport: messages through an XMPP server, embedded or external.

Every wait has a timeout, and every failure is a `WorkerError`: SPADE itself waits forever for a
server that does not exist, and its agents do not notice when a server disappears.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from typing import TYPE_CHECKING, Any

from slixmpp.exceptions import IqError, IqTimeout
from spade.xmpp_client import XMPPClient

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.messaging.address import Address, account_name, is_loopback

if TYPE_CHECKING:
    from spade.message import Message

    from spade_bdi_rl_worker.messaging.embedded_server import EmbeddedServer

PASSWORD_VARIABLE = "MOSAIC_XMPP_PASSWORD"  # noqa: S105 - the name of a variable
"""Password of existing accounts; without it, accounts are registered for the run."""
ACCOUNT_VARIABLE = "MOSAIC_XMPP_ACCOUNT"
"""Prefix of existing account names: `NAME-learner`, `NAME-coach`."""
VERIFY_VARIABLE = "MOSAIC_XMPP_VERIFY"
"""`0`: accept any certificate of a server on another machine."""

_CONNECT_TIMEOUT_S = 15.0
_PING_TIMEOUT_S = 5
_CLOSE_STREAM_TIMEOUT_S = 0.5
_DISCONNECT_TIMEOUT_S = 2.0


class XmppTransport:
    """A `MessageTransport`. Messages within the process also go through the server."""

    def __init__(self, address: Address, run_id: str) -> None:
        self.password = os.environ.get(PASSWORD_VARIABLE) or secrets.token_urlsafe(24)
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._address = address
        self._prefix = os.environ.get(ACCOUNT_VARIABLE) or f"mosaic-{run_id}"
        self._registers = PASSWORD_VARIABLE not in os.environ
        self._server: EmbeddedServer | None = None
        self._is_closing = False

    def __str__(self) -> str:
        return f"XMPP ({self._address})"

    def address_of(self, name: str) -> str:
        return f"{account_name(self._prefix, name)}@{self._address.domain}".lower()

    async def open(self) -> None:
        if self._address.kind == "embedded":
            from spade_bdi_rl_worker.messaging.embedded_server import (  # noqa: PLC0415 - slow
                EmbeddedServer,
            )

            self._server = EmbeddedServer()
            host, port, domain = await self._server.start()
            self._address = Address("external", host, port, domain)
            self.password = secrets.token_urlsafe(24)
            self._registers = False

    async def connect(self, agent: Any) -> None:
        client = XMPPClient(agent.jid, agent.password, self._verify_certificate, self._registers)
        # Without encryption a challenge response is sent only on loopback.
        client["feature_mechanisms"].unencrypted_scram = is_loopback(self._address.host)
        agent.client = client
        if self._server is not None:
            await self._server.add_account(agent.jid.user, agent.password)
        outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        rejections: list[Any] = []

        def handler(name: str) -> Any:
            def handle(event: Any = None) -> None:
                if not outcome.done():
                    outcome.set_result(f"{name}:{event or ''}")

            return handle

        client.add_event_handler("session_start", handler("connected"))
        client.add_event_handler("connection_failed", handler("unreachable"))
        client.add_event_handler("failed_auth", rejections.append)
        client.add_event_handler("failed_all_auth", handler("rejected"))
        client.add_event_handler("disconnected", handler("dropped"))
        client.add_event_handler("ssl_invalid_cert", handler("untrusted"))
        client.add_event_handler("message", agent._message_received)  # noqa: SLF001 - as SPADE does
        client.connect(host=self._address.host, port=self._address.port)
        try:
            event = await asyncio.wait_for(outcome, _CONNECT_TIMEOUT_S)
        except asyncio.TimeoutError:
            event = "timeout:"
        failure, _, detail = event.partition(":")
        if failure != "connected":
            self._is_closing = True
            client.abort()
            client.cancel_connection_attempt()
            if failure == "rejected" and not rejections:
                failure = "no login"
            raise self._session_error(failure, detail)
        client.add_event_handler("disconnected", lambda _: self._set_lost(agent.agent_name))
        # The server discards messages to an agent until it has processed its presence, which the
        # answer to a ping proves.
        with contextlib.suppress(IqError, IqTimeout):
            await client["xep_0199"].ping(self._address.domain, timeout=_PING_TIMEOUT_S)

    async def disconnect(self, agent: Any) -> None:
        agent.container.unregister(agent.jid)
        client = agent.client
        if client is None:
            return
        self._is_closing = True
        if self._registers and "mechanisms" in client.features and not self.lost.done():
            with contextlib.suppress(IqError, IqTimeout):
                await client["xep_0077"].cancel_registration(timeout=_DISCONNECT_TIMEOUT_S)
        with contextlib.suppress(asyncio.TimeoutError, asyncio.CancelledError, OSError):
            # The embedded server is stopped next: there is no need to close the stream.
            wait_s = 0.0 if self._server is not None else _CLOSE_STREAM_TIMEOUT_S
            disconnected = client.disconnect(wait=wait_s, ignore_send_queue=True)
            await asyncio.wait_for(asyncio.shield(disconnected), _DISCONNECT_TIMEOUT_S)
        client.abort()

    async def send(self, behaviour: Any, message: Message) -> None:
        client = behaviour.agent.client
        if client is None or client.transport is None:
            self._set_lost(behaviour.agent.agent_name)
            return
        message.prepare(client).send()

    async def close(self) -> None:
        self._is_closing = True
        if self._server is not None:
            await self._server.stop()
        if not self.lost.cancel() and not self.lost.cancelled():
            self.lost.exception()  # mark as retrieved

    @property
    def _verify_certificate(self) -> bool:
        """Certificates are not verified on loopback, where they are self-signed."""
        is_enabled = os.environ.get(VERIFY_VARIABLE) != "0"
        return is_enabled and not is_loopback(self._address.host)

    def _set_lost(self, name: str) -> None:
        if self._is_closing or self.lost.done():
            return
        self.lost.set_exception(
            WorkerError(
                f"{name} lost its connection to the XMPP server {self._address}.",
                remedy="See the server's log, restart it, and start the run again from its last"
                " checkpoint. Without `xmpp`, agents of one run need no server.",
            )
        )

    def _session_error(self, failure: str, detail: str) -> WorkerError:
        server = f"The XMPP server {self._address}"
        if failure == "rejected" and self._registers:
            return WorkerError(
                f"{server} does not allow the run to register accounts.",
                remedy="Allow registration (ejabberd: mod_register, Prosody: allow_registration),"
                f" or create accounts and set {PASSWORD_VARIABLE} and {ACCOUNT_VARIABLE}.",
            )
        if failure == "rejected":
            return WorkerError(
                f"{server} rejected the run's account {self._prefix}-….",
                remedy=f"Correct {ACCOUNT_VARIABLE} and {PASSWORD_VARIABLE}, or unset both.",
            )
        if failure == "untrusted":
            return WorkerError(
                f"{server} has a certificate that this machine does not trust.",
                remedy="Add its certificate authority to the system, or set"
                f" {VERIFY_VARIABLE}=0 in a trusted network.",
            )
        if failure == "no login":
            return WorkerError(
                f"{server} offers no login that protects the password.",
                remedy="Enable TLS and the SCRAM login mechanism on the server.",
            )
        if failure == "dropped" and "SSL" in detail:
            return WorkerError(
                f"{server} cannot encrypt: {detail}.",
                remedy="It may have no certificate for its domain: create one (Prosody: `prosodyctl"
                f" cert generate {self._address.domain}`) and restart the server.",
            )
        if failure == "timeout":
            failure = f"no session within {_CONNECT_TIMEOUT_S:g} s"
        return WorkerError(
            f"{server} cannot be used: {failure}{' ' + detail if detail else ''}.",
            remedy="See the server's log, or use `embedded`; agents of one run need no server.",
        )
