"""From an address to the link of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spade_bdi_rl_worker.messaging.container_link import ContainerLink

if TYPE_CHECKING:
    from spade_bdi_rl_worker.messaging.address import Address
    from spade_bdi_rl_worker.messaging.link import Link


def choose_link(address: Address, run_id: str) -> Link:
    """`run_id` keeps the accounts of runs that share a server apart."""
    if address.kind == "container":
        return ContainerLink()
    # Imported here: what follows is needed with a server only.
    from spade_bdi_rl_worker.messaging.xmpp_link import XmppLink  # noqa: PLC0415

    return XmppLink(address, run_id)
