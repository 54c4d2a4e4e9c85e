"""MessageTransport: how agents exchange messages; ContainerTransport needs no server.

`ContainerTransport` stays inside the process; `XmppTransport`, in its own module, uses a server.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.messaging.address import account_name

if TYPE_CHECKING:
    from spade.message import Message

    from spade_bdi_rl_worker.messaging.address import Address

_DOMAIN = "localhost"


class MessageTransport(Protocol):
    """One for all agents of a run."""

    password: str
    lost: asyncio.Future[None]
    """Gets an exception when messages can no longer be delivered; never a result."""

    def address_of(self, name: str) -> str:
        """Return the address of the agent with that name."""

    async def open(self) -> None:
        """Open the transport, before the first agent connects. May raise `WorkerError`."""

    async def connect(self, agent: Any) -> None:
        """Connect the agent. After it returns, the agent can send and receive."""

    async def disconnect(self, agent: Any) -> None:
        """Disconnect the agent. Never raises."""

    async def send(self, behaviour: Any, message: Message) -> None:
        """Deliver the message, or raise `WorkerError`."""

    async def close(self) -> None:
        """Release all resources, after the last agent disconnected."""


def make_transport(address: Address, run_id: str) -> MessageTransport:
    """Create the transport; `run_id` separates the accounts of runs that share a server."""
    if address.kind == "container":
        return ContainerTransport()
    # Imported here, because only runs with a server need it.
    from spade_bdi_rl_worker.messaging.xmpp_transport import XmppTransport  # noqa: PLC0415

    return XmppTransport(address, run_id)


class ContainerTransport:
    """Delivers messages inside the process, through SPADE's container. Never lost."""

    password = ""

    def __init__(self) -> None:
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __str__(self) -> str:
        return "the worker process"

    def address_of(self, name: str) -> str:
        return f"{account_name(name)}@{_DOMAIN}"

    async def open(self) -> None:
        pass

    async def connect(self, agent: Any) -> None:
        pass

    async def disconnect(self, agent: Any) -> None:
        agent.container.unregister(agent.jid)

    async def send(self, behaviour: Any, message: Message) -> None:
        receiver = str(message.to)
        container = behaviour.agent.container
        if not container.has_agent(receiver):
            raise WorkerError(
                f"{behaviour.agent.agent_name} sent a message to {receiver}, which is not in its"
                " team.",
                remedy="In plans, use the addresses of the beliefs `coach`, `learner` and"
                " `partner`. Set `xmpp` to reach agents of other processes.",
            )
        container.get_agent(receiver).dispatch(message)

    async def close(self) -> None:
        pass
