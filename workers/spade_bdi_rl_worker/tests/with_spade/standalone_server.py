"""A process with an XMPP server, for tests: prints its port, and runs until it is killed.

`python standalone_server.py [register] [NAME PASSWORD …]`: with `register`, clients can create
accounts.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from spade_bdi_rl_worker.messaging.embedded_server import EmbeddedServer, ServerEndpoint
from spade_bdi_rl_worker.messaging.stub_imports import import_spade


async def serve(arguments: list[str]) -> None:
    server = EmbeddedServer()
    if arguments[:1] == ["register"]:
        arguments = arguments[1:]
        address = await start_with_registration(server)
    else:
        address = await server.start()
    for name, password in zip(arguments[::2], arguments[1::2], strict=True):
        await server.add_account(name, password)
    print(address.port, flush=True)
    await asyncio.Event().wait()


async def start_with_registration(server: EmbeddedServer) -> ServerEndpoint:
    """Start the server so that clients can register accounts, as on other servers."""
    from pyjabber import AppConfig  # noqa: PLC0415
    from pyjabber.features.SASL.SASL import SASL  # noqa: PLC0415

    handle_iq = SASL.handle_iq
    address = await server.start()
    SASL.handle_iq = handle_iq
    AppConfig.app_config.plugins.append("jabber:iq:register")
    return address


if __name__ == "__main__":
    import_spade()
    uvloop.run(serve(sys.argv[1:]))
