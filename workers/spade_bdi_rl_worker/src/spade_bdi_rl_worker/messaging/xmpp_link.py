"""Messages through an XMPP server: one that this link starts itself, or one that runs somewhere.

Every wait is bounded, and every failure is a `WorkerError`: SPADE's own start waits for ever for a
server that is not there, and its agents live on without noticing that the server has gone.
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
from spade_bdi_rl_worker.messaging.address import Address, account_name, is_this_machine

if TYPE_CHECKING:
    from spade.message import Message

    from spade_bdi_rl_worker.messaging.embedded_server import EmbeddedServer

PASSWORD_VARIABLE = "MOSAIC_XMPP_PASSWORD"  # noqa: S105 - the name of a variable
"""Of accounts that are there already; without it, accounts are made for the run."""
ACCOUNT_VARIABLE = "MOSAIC_XMPP_ACCOUNT"
"""What the names of such accounts begin with: `NAME-learner`, `NAME-coach`."""
VERIFY_VARIABLE = "MOSAIC_XMPP_VERIFY"
"""`0`: take any certificate of a server on another machine."""

_CONNECT_SECONDS = 15.0
_ANSWER_SECONDS = 5
_GOODBYE_SECONDS = 0.5
_DISCONNECT_SECONDS = 2.0


class XmppLink:
    """One for all agents of a run. Messages go through the server also within the process."""

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
        client = XMPPClient(agent.jid, agent.password, self._verifies, self._registers)
        # Without encryption a password is not even hinted at, except where nobody can listen.
        client["feature_mechanisms"].unencrypted_scram = is_this_machine(self._address.host)
        agent.client = client
        if self._server is not None:
            await self._server.add_account(agent.jid.user, agent.password)
        outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        refusals: list[Any] = []

        def come(what: str) -> Any:
            def note(event: Any = None) -> None:
                if not outcome.done():
                    outcome.set_result(f"{what}:{event or ''}")

            return note

        client.add_event_handler("session_start", come("connected"))
        client.add_event_handler("connection_failed", come("unreachable"))
        client.add_event_handler("failed_auth", refusals.append)
        client.add_event_handler("failed_all_auth", come("refused"))
        client.add_event_handler("disconnected", come("dropped"))
        client.add_event_handler("ssl_invalid_cert", come("untrusted"))
        client.add_event_handler("message", agent._message_received)  # noqa: SLF001 - as SPADE does
        client.connect(host=self._address.host, port=self._address.port)
        try:
            said = await asyncio.wait_for(outcome, _CONNECT_SECONDS)
        except asyncio.TimeoutError:
            said = "silent:"
        what, _, detail = said.partition(":")
        if what != "connected":
            self._is_closing = True
            client.abort()
            client.cancel_connection_attempt()
            if what == "refused" and not refusals:
                what = "no login"
            raise self._no_session(what, detail)
        client.add_event_handler("disconnected", lambda _: self._lose(agent.agent_name))
        # When it answers, the server knows that the agent is there; a message sent to it earlier
        # could be thrown away.
        with contextlib.suppress(IqError, IqTimeout):
            await client["xep_0199"].ping(self._address.domain, timeout=_ANSWER_SECONDS)

    async def disconnect(self, agent: Any) -> None:
        agent.container.unregister(agent.jid)
        client = agent.client
        if client is None:
            return
        self._is_closing = True
        if self._registers and "mechanisms" in client.features and not self.lost.done():
            with contextlib.suppress(IqError, IqTimeout):
                await client["xep_0077"].cancel_registration(timeout=_DISCONNECT_SECONDS)
        with contextlib.suppress(asyncio.TimeoutError, asyncio.CancelledError, OSError):
            # Our own server goes next: there is nobody to say goodbye to.
            wait_s = 0.0 if self._server is not None else _GOODBYE_SECONDS
            ended = client.disconnect(wait=wait_s, ignore_send_queue=True)
            await asyncio.wait_for(asyncio.shield(ended), _DISCONNECT_SECONDS)
        client.abort()

    async def send(self, behaviour: Any, message: Message) -> None:
        client = behaviour.agent.client
        if client is None or client.transport is None:
            self._lose(behaviour.agent.agent_name)
            return
        message.prepare(client).send()

    async def close(self) -> None:
        self._is_closing = True
        if self._server is not None:
            await self._server.stop()
        if not self.lost.cancel() and not self.lost.cancelled():
            self.lost.exception()  # nobody may have asked for it

    @property
    def _verifies(self) -> bool:
        """A certificate proves nothing on this machine, where it was made a moment ago."""
        is_wanted = os.environ.get(VERIFY_VARIABLE) != "0"
        return is_wanted and not is_this_machine(self._address.host)

    def _lose(self, name: str) -> None:
        if self._is_closing or self.lost.done():
            return
        self.lost.set_exception(
            WorkerError(
                f"{name} has lost its connection to the XMPP server {self._address}.",
                remedy="See why the server has gone (its log tells), start it, and start the run"
                " again; a checkpoint has what was learnt so far. Without `xmpp`, agents of one"
                " run need no server.",
            )
        )

    def _no_session(self, what: str, detail: str) -> WorkerError:
        server = f"The XMPP server {self._address}"
        if what == "refused" and self._registers:
            return WorkerError(
                f"{server} makes no account for the run.",
                remedy="Allow registration (ejabberd: mod_register, Prosody: allow_registration),"
                f" or make accounts and set {PASSWORD_VARIABLE} and {ACCOUNT_VARIABLE}.",
            )
        if what == "refused":
            return WorkerError(
                f"{server} does not accept the account {self._prefix}-… of the run.",
                remedy=f"Correct {ACCOUNT_VARIABLE} and {PASSWORD_VARIABLE}, or unset both.",
            )
        if what == "untrusted":
            return WorkerError(
                f"{server} has a certificate that this machine does not trust.",
                remedy="Add its authority to the system's, or set"
                f" {VERIFY_VARIABLE}=0 where you know the network.",
            )
        if what == "no login":
            return WorkerError(
                f"{server} offers no login that keeps the password to itself.",
                remedy="Set up TLS on it, and SCRAM as a mechanism of its logins.",
            )
        if what == "dropped" and "SSL" in detail:
            return WorkerError(
                f"{server} cannot encrypt: {detail}.",
                remedy="It may have no certificate for its domain: make one (Prosody: `prosodyctl"
                f" cert generate {self._address.domain}`) and start it again.",
            )
        if what == "silent":
            what = f"it let {_CONNECT_SECONDS:g} s go by without a session"
        return WorkerError(
            f"{server} cannot be used: {what}{' ' + detail if detail else ''}.",
            remedy="See what its log says, or use `embedded`; agents of one run need no server.",
        )
