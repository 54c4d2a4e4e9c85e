"""Messages between agents of one process, without any server: SPADE's container delivers them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.messaging.address import account_name

if TYPE_CHECKING:
    from spade.message import Message

_DOMAIN = "localhost"


class ContainerLink:
    """Nothing is opened, nothing can be lost."""

    password = ""

    def __init__(self) -> None:
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __str__(self) -> str:
        return "the process itself"

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
                f"{behaviour.agent.agent_name} wrote to {receiver}, who is not in its team.",
                remedy="In plans, use the addresses of the beliefs `coach`, `learner` and"
                " `partner`. Agents of other processes are reached with `xmpp`.",
            )
        container.get_agent(receiver).dispatch(message)

    async def close(self) -> None:
        pass
