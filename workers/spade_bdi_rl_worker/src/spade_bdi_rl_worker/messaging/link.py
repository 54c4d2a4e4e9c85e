"""What an agent needs of its way to others. Two are there: inside the process, and through XMPP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import asyncio

    from spade.message import Message


class Link(Protocol):
    """One for all agents of a run."""

    password: str
    lost: asyncio.Future[None]
    """An exception when messages can no longer be delivered; never a result."""

    def address_of(self, name: str) -> str:
        """The address for messages to the agent of that name."""

    async def open(self) -> None:
        """Before the first agent. Raises `WorkerError` when there is no way."""

    async def connect(self, agent: Any) -> None:
        """When it returns, the agent can send and be sent to."""

    async def disconnect(self, agent: Any) -> None:
        """Never raises."""

    async def send(self, behaviour: Any, message: Message) -> None:
        """Deliver it, or raise `WorkerError`."""

    async def close(self) -> None:
        """After the last agent. Nothing of it is left then."""
